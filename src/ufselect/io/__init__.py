"""Reading tables of many formats, and writing selections."""

from typing import TYPE_CHECKING

from ufselect.common.lazy import lazy

if TYPE_CHECKING:
    from ufselect.exceptions import TableError
    from ufselect.io.reading import FORMATS, ReadOptions, read_table
    from ufselect.io.table import LeftOut, Table
    from ufselect.io.writing import write_selection

__all__ = ["FORMATS", "LeftOut", "ReadOptions", "Table", "TableError", "read_table", "write_selection"]
__getattr__ = lazy(
    "ufselect.io",
    {
        **dict.fromkeys(["FORMATS", "ReadOptions", "read_table"], "ufselect.io.reading"),
        **dict.fromkeys(["LeftOut", "Table"], "ufselect.io.table"),
        "TableError": "ufselect.exceptions",
        "write_selection": "ufselect.io.writing",
    },
)
