"""Reading tables of many formats, writing selections, and the record of a run."""

from ufselect.io.errors import TableError
from ufselect.io.reading import FORMATS, ReadOptions, read_table
from ufselect.io.table import LeftOut, Table
from ufselect.io.writing import write_selection

__all__ = ["FORMATS", "LeftOut", "ReadOptions", "Table", "TableError", "read_table", "write_selection"]
