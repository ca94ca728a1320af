"""Snapshots: what the schema says is enforced, and what does not fit is named."""

from __future__ import annotations

import sqlite3

import pytest
from worlds import shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.database import Column, Document
from tasks.coding.snapshot import Reader
from tasks.environment import (
    Differ,
    EnvironmentImage,
    SnapshotError,
    StateError,
    build_snapshot,
    difference,
    open_state,
    state_hash,
)
from tasks.sandbox import SandboxError, SandboxWorker
from tasks.synthesis.atlas import Atlas

DATABASE = shop_database()


def connect() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(shop_snapshot())
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def test_the_same_rows_give_the_same_bytes():
    assert shop_snapshot() == shop_snapshot() != shop_snapshot(seed=1)


def test_rows_and_documents_are_there():
    connection = connect()
    for table, rows in shop_rows().items():
        key = DATABASE.table(table).key
        stored = connection.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall()
        assert [row for (row,) in stored] == sorted(row[key] for row in rows)
    assert connection.execute("SELECT count(*) FROM documents WHERE content LIKE '%pending%'").fetchone() == (1,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE products SET stock = -1",
        "UPDATE products SET stock = 'many'",
        "UPDATE products SET category = 'boats'",
        "UPDATE products SET name = 'the same'",
        "UPDATE products SET supplier_id = 'nobody'",
        "UPDATE products SET price = NULL",
        "UPDATE customers SET newsletter = 2",
        "UPDATE orders SET ordered_at = 'yesterday'",
        "DELETE FROM suppliers",
        "INSERT INTO suppliers SELECT * FROM suppliers",
    ],
)
def test_the_database_itself_refuses(statement):
    with pytest.raises(sqlite3.IntegrityError):
        connect().execute(statement)


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("products", {"price": "cheap"}, "price"),
        ("products", {"price": float("nan")}, "price"),
        ("products", {"stock": 1.5}, "stock"),
        ("products", {"stock": True}, "stock"),
        ("products", {"stock": -1}, "CHECK"),
        ("products", {"category": "boats"}, "CHECK"),
        ("products", {"supplier_id": "nobody"}, "suppliers"),
        ("products", {"colour": "red"}, "colour"),
        ("products", {"name": None}, "name"),
        ("orders", {"ordered_at": "2026-1-1"}, "ordered_at"),
        ("customers", {"newsletter": 3}, "newsletter"),
    ],
)
def test_a_row_that_does_not_fit_is_named(table, change, words):
    rows = shop_rows()
    rows[table][2] = rows[table][2] | change
    key = rows[table][2][DATABASE.table(table).key]
    with pytest.raises(SnapshotError) as caught:
        build_snapshot(DATABASE, rows)
    assert table in str(caught.value) and key in str(caught.value) and words in str(caught.value)


def test_broken_schemas_are_refused():
    rows = shop_rows()
    with pytest.raises(SnapshotError, match="ships"):
        build_snapshot(DATABASE, rows | {"ships": []})
    with pytest.raises(SnapshotError, match="UNIQUE"):
        build_snapshot(DATABASE, rows | {"suppliers": [*rows["suppliers"], rows["suppliers"][0]]})
    document = Document(name="a", media_type="text/plain", title="A")
    with pytest.raises(SnapshotError, match="'a'"):
        build_snapshot(DATABASE, rows, [(document, "x"), (document, "y")])
    suppliers = DATABASE.tables[0]
    odd = suppliers.model_copy(
        update={"columns": (*suppliers.columns, Column(name="x", type="string", role="reference", references="a.b"))}
    )
    with pytest.raises(SnapshotError, match="a.b"):
        build_snapshot(DATABASE.model_copy(update={"tables": (odd,)}), {})
    with pytest.raises(SnapshotError, match="key"):
        build_snapshot(DATABASE.model_copy(update={"tables": (suppliers.model_copy(update={"key": "none"}),)}), {})


def test_a_snapshot_of_a_later_layout_is_refused_by_all_that_read_one():
    connection = connect()
    connection.execute("PRAGMA user_version = 99")
    later = connection.serialize()
    for read in (open_state, state_hash, Differ):
        with pytest.raises(StateError, match=r"layout 99.* up to 1: install a later"):
            read(later)
    with SandboxWorker() as worker, pytest.raises(SandboxError, match="start: .*env-shop.*layout 99"):
        worker.load(EnvironmentImage.of(DATABASE, shop_tools(), later))
    for reader in (lambda: Reader(later), lambda: Atlas(DATABASE, later, shop_tools())):
        with pytest.raises(ValueError, match=r"layout 99.* up to 1: install a later"):
            reader()


def test_equal_worlds_hash_equal_whatever_the_order_of_rows():
    rows = shop_rows()
    mixed = {table: list(reversed(found)) for table, found in rows.items()}
    plain, other = build_snapshot(DATABASE, rows), build_snapshot(DATABASE, mixed)
    assert plain != other and state_hash(plain) == state_hash(other) and difference(plain, other) == ()
