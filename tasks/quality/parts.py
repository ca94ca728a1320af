"""Read a dataset part by part, so that one unreadable object costs its own rows and no others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from schemas.arrow import arrow_schema
from schemas.base import canonical_json
from schemas.datasets import DATASETS
from tasks.quality.audit import PART
from tasks.store import Store, StoreError, list_keys, read_table


@dataclass(frozen=True)
class Parts:
    """A dataset as it is stored: its rows (with the column PART), how many parts it has, and (key, reason) of those
    that cannot be read."""

    table: pa.Table
    count: int
    broken: tuple[tuple[str, str], ...]


class PartError(Exception):
    """A part whose columns are not those of its dataset; says which."""


def read_parts(store: Store, name: str, without: Collection[str] = ()) -> Parts:
    """Return a dataset's rows; a part that is unreadable or has other columns than its dataset is left out and named.

    Args:
        without: keys that are not read.

    Raises:
        StoreError: if the store cannot be listed.
    """
    wanted = _schema(name)
    keys = [key for key in list_keys(store, name) if key not in without]
    tables, broken = [], []
    for key in keys:
        try:
            tables.append(conform(read_table(store, name, [key]), name, key))
        except (StoreError, PartError, pa.ArrowException, OSError, ValueError) as error:
            broken.append((key, str(error).splitlines()[0][:500]))
    table = pa.concat_tables(tables) if tables else wanted.empty_table()
    return Parts(table, len(keys), tuple(broken))


def conform(table: pa.Table, name: str, key: str) -> pa.Table:
    """Return a part's rows with the dataset's columns and PART; columns that an older writer did not know get the
    record's default.

    Raises:
        PartError: if a column without a default is missing, or one has a type that is not the dataset's.
    """
    dataset = DATASETS[name]
    columns: list[Any] = []
    for field in arrow_schema(dataset.model, dataset.version):
        if field.name not in table.column_names:
            columns.append(pa.array([_default(dataset.model.model_fields[field.name], field)] * len(table), field.type))
            continue
        column = table.column(field.name)
        if not _same_kind(column.type, field.type):
            raise PartError(f"column {field.name!r} is {column.type}, not {field.type}: rerun the stage that wrote it")
        columns.append(column.cast(field.type))
    return pa.table([*columns, pa.array([key] * len(table), pa.string())], schema=_schema(name))


def _schema(name: str) -> pa.Schema:
    dataset = DATASETS[name]
    fields = [pa.field(f.name, f.type) for f in arrow_schema(dataset.model, dataset.version)]
    return pa.schema([*fields, pa.field(PART, pa.string())])


def _default(info: FieldInfo, field: pa.Field) -> Any:
    default = info.get_default(call_default_factory=True)
    if default is PydanticUndefined:
        raise PartError(f"column {field.name!r} is missing: rerun the stage that wrote it")
    if field.metadata and b"json" in field.metadata:
        return None if default is None else canonical_json(default)
    return list(default) if isinstance(default, tuple) else default


def _same_kind(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Return whether a type holds the same values as another in another width or layout."""
    kinds = pa.types
    if kinds.is_null(given):
        return True
    if kinds.is_list(wanted):
        lists = kinds.is_list(given) or kinds.is_large_list(given)
        return lists and _same_kind(given.value_type, wanted.value_type)
    if kinds.is_string(wanted):
        return kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given)
    if kinds.is_floating(wanted):
        return kinds.is_floating(given) or kinds.is_integer(given)
    return (kinds.is_integer(wanted) and kinds.is_integer(given)) or given == wanted
