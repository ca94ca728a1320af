"""Parquet files: one table. Sizes are taken from the file's own directory and checked again while reading."""

from __future__ import annotations

import io

from tasks.files.errors import FileError
from tasks.files.table import FileLimits, FileTable, make_table


def read_parquet(data: bytes, name: str, limits: FileLimits) -> list[FileTable]:
    """Return the one table of a Parquet file; locators are `row 1`. Nested values become their text.

    Raises:
        FileError: if it is damaged, or beyond the limits.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        about = file.metadata
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if size > limits.bytes or about.num_rows > limits.rows or about.num_columns > limits.columns:
            raise FileError(name, f"holds {about.num_rows} rows in {about.num_columns} columns: cut it down first")
        header = file.schema_arrow.names
        rows = (
            (f"row {index}", tuple(record.values()))
            for index, record in enumerate(
                (record for batch in file.iter_batches(10_000) for record in batch.to_pylist()), start=1
            )
        )
        table = make_table(name, header, rows, limits, name)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FileError(name, f"is a damaged Parquet file ({str(error).splitlines()[0][:200]})") from None
    if not table.rows:
        raise FileError(name, "holds no rows")
    return [table]
