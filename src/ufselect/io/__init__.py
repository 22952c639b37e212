"""Reading tables of many formats, and writing selections."""

from typing import TYPE_CHECKING

from ufselect._utils.imports import lazy

if TYPE_CHECKING:
    from ufselect.exceptions import TableError
    from ufselect.io.read import read_table
    from ufselect.io.table import ReadOptions, Table
    from ufselect.io.write import write_selection

__all__ = ["ReadOptions", "Table", "TableError", "read_table", "write_selection"]
__getattr__ = lazy(
    "ufselect.io",
    {
        "read_table": "ufselect.io.read",
        **dict.fromkeys(["ReadOptions", "Table"], "ufselect.io.table"),
        "TableError": "ufselect.exceptions",
        "write_selection": "ufselect.io.write",
    },
)
