"""Files from outside as data: tables with typed columns and the place of each row, and plain text."""

from tasks.files.apart import read_file_apart
from tasks.files.errors import FileError
from tasks.files.kinds import DATA_ENDINGS, Kind
from tasks.files.names import safe_name
from tasks.files.read import FileContent, read_file
from tasks.files.table import FileColumn, FileLimits, FileTable

__all__ = [
    "DATA_ENDINGS",
    "FileColumn",
    "FileContent",
    "FileError",
    "FileLimits",
    "FileTable",
    "Kind",
    "read_file",
    "read_file_apart",
    "safe_name",
]
