"""Arrow schemas of records, derived from their fields, and the way between records and rows.

Scalars map to Arrow's own types and tuples of scalars to lists; whatever nests deeper is kept as canonical JSON text,
in a column whose metadata says `json`, so that every reader of Parquet sees plain columns.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union, get_args, get_origin

import pyarrow as pa

from schemas.base import Record, canonical_json

_SCALARS: dict[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def _arrow_type(annotation: Any) -> tuple[pa.DataType, bool, bool]:
    """Return (type, nullable, kept as JSON) for a field's annotation."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation], False, False
    if origin is Literal:
        return pa.string(), False, False
    if origin in (Union, types.UnionType) and len(args) == 2 and type(None) in args:
        kind, _, as_json = _arrow_type(next(arg for arg in args if arg is not type(None)))
        return kind, True, as_json
    if origin is tuple and len(args) == 2 and args[0] in _SCALARS and args[1] is Ellipsis:
        return pa.list_(_SCALARS[args[0]]), False, False
    return pa.string(), False, True


def arrow_schema(model: type[Record], version: int) -> pa.Schema:
    """Return the Arrow schema of a record type; `version` goes to its metadata."""
    fields = []
    for name, info in model.model_fields.items():
        kind, nullable, as_json = _arrow_type(info.annotation)
        fields.append(pa.field(name, kind, nullable=nullable, metadata={"json": "1"} if as_json else None))
    return pa.schema(fields, metadata={"record": model.__name__, "schema_version": str(version)})


def to_table(model: type[Record], version: int, records: Iterable[Record]) -> pa.Table:
    """Return the records as an Arrow table, in the order given."""
    schema = arrow_schema(model, version)
    columns: dict[str, list[Any]] = {field.name: [] for field in schema}
    json_columns = {field.name for field in schema if field.metadata and b"json" in field.metadata}
    for record in records:
        row = record.model_dump(mode="json")
        for name, values in columns.items():
            value = row[name]
            values.append(canonical_json(value) if name in json_columns and value is not None else value)
    return pa.table(columns, schema=schema)


def from_table(model: type[Record], table: pa.Table) -> list[Record]:
    """Return the records of an Arrow table; columns that an older writer lacked take the field's default.

    Raises:
        pydantic.ValidationError: if a row does not fit the record type.
    """
    known: Sequence[str] = [name for name in table.column_names if name in model.model_fields]
    json_columns = {
        field.name for field in arrow_schema(model, 0) if field.metadata and b"json" in field.metadata
    }  # fmt: skip
    required = {field.name for field in arrow_schema(model, 0) if not field.nullable}
    records = []
    for row in table.select(known).to_pylist():
        for name in [name for name, value in row.items() if value is None and name in required]:
            del row[name]  # an older part, read together with newer ones, lacks the column
        for name in json_columns & row.keys():
            if row[name] is not None:
                row[name] = json.loads(row[name])
        records.append(model.model_validate(row))
    return records
