"""Reading tables of many formats, writing selections, and the record of a run."""

from ufselect.tables.errors import TableError
from ufselect.tables.reading import FORMATS, ReadOptions, read_table
from ufselect.tables.record import LeftOut, Table
from ufselect.tables.writing import write_selection

__all__ = ["FORMATS", "LeftOut", "ReadOptions", "Table", "TableError", "read_table", "write_selection"]
