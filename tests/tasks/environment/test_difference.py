"""Differences: applied to the initial rows they give the final rows; layout of the file does not matter."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import shop_rows, shop_snapshot

from tasks.environment import Differ, StateError, difference, state_hash

SNAPSHOT = shop_snapshot()
ROWS = shop_rows()
PRODUCTS = sorted(row["product_id"] for row in ROWS["products"])
ORDERS = sorted(row["order_id"] for row in ROWS["orders"])
CUSTOMERS = sorted(row["customer_id"] for row in ROWS["customers"])

EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("UPDATE products SET stock = ? WHERE product_id = ?"), st.integers(0, 9),
                  st.sampled_from(PRODUCTS)),
        st.tuples(st.just("UPDATE orders SET status = ? WHERE order_id = ?"),
                  st.sampled_from(["pending", "shipped"]), st.sampled_from(ORDERS)),
        st.tuples(st.just("DELETE FROM orders WHERE order_id = ?"), st.sampled_from(ORDERS)),
        st.tuples(
            st.just("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, 1, 2.5, 'pending', '2026-03-01T00:00:00', NULL)"),
            st.sampled_from(["ord-a", "ord-b", *ORDERS[:3]]), st.sampled_from(CUSTOMERS), st.sampled_from(PRODUCTS),
        ),
    ),
    max_size=8,
)  # fmt: skip


def edited(edits, vacuum: bool = False) -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(SNAPSHOT)
    for sql, *values in edits:
        connection.execute(sql, values)
    if vacuum:
        connection.execute("VACUUM")
    return connection.serialize()


def rows_of(state: bytes) -> dict:
    connection = sqlite3.connect(":memory:")
    connection.deserialize(state)
    connection.row_factory = sqlite3.Row
    keys = {"suppliers": "supplier_id", "customers": "customer_id", "products": "product_id", "orders": "order_id"}
    return {
        (table, row[key]): dict(row)
        for table, key in keys.items()
        for row in connection.execute(f"SELECT * FROM {table}")
    }


@settings(max_examples=30, deadline=None)
@given(EDITS, st.booleans())
def test_a_difference_leads_from_the_first_state_to_the_second(edits, vacuum):
    after = edited(edits, vacuum)
    changes = difference(SNAPSHOT, after)
    rows = rows_of(SNAPSHOT)
    for change in changes:
        place = (change.table, change.key)
        assert rows.get(place) == change.before != change.after
        if change.after is None:
            del rows[place]
        else:
            rows[place] = change.after
    assert rows == rows_of(after)
    assert (changes == ()) == (state_hash(after) == state_hash(SNAPSHOT))
    assert list(changes) == sorted(changes, key=lambda c: (c.table, c.operation, c.key))


@settings(max_examples=8, deadline=None)
@given(st.lists(EDITS, min_size=2, max_size=4))
def test_one_differ_serves_many_states(many):
    differ = Differ(SNAPSHOT)
    for edits in many:
        assert differ.changes(edited(edits)) == difference(SNAPSHOT, edited(edits, vacuum=True))


def test_log_tables_are_left_out():
    after = edited([("UPDATE orders SET quantity = 9",)])
    assert len(difference(SNAPSHOT, after)) == 60
    assert difference(SNAPSHOT, after, ("orders",)) == ()
    assert state_hash(after, ("orders",)) == state_hash(SNAPSHOT, ("orders",))


def test_a_state_that_is_none_is_refused():
    cut = edited([("UPDATE products SET stock = 3",)])
    for broken in (b"", b"x" * 5000, cut[:5000], cut[:30000] + b"\xff" * 40000):
        with pytest.raises(StateError):
            difference(SNAPSHOT, broken)


def test_another_schema_is_refused():
    view = [("ALTER TABLE orders RENAME TO hidden",), ("CREATE VIEW orders AS SELECT * FROM hidden",)]
    with pytest.raises(StateError, match="schema"):
        difference(SNAPSHOT, edited(view))


ROW = st.tuples(st.sampled_from("abc"), st.sampled_from([1, 2, None]), st.sampled_from([1.5, "x"]))


def bag(rows, logged=()) -> bytes:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript("CREATE TABLE keyless (a, b, c); CREATE TABLE keyed (a, b, c, PRIMARY KEY (a, b));")
    connection.execute("CREATE TABLE log (entry)")
    connection.executemany("INSERT INTO keyless VALUES (?, ?, ?)", rows)
    connection.executemany(
        "INSERT INTO keyed VALUES (?, ?, ?)", {(a, b or 0): (a, b or 0, c) for a, b, c in rows}.values()
    )
    connection.executemany("INSERT INTO log VALUES (?)", [(entry,) for entry in logged])
    return connection.serialize()


@settings(max_examples=60, deadline=None)
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=6), st.randoms(use_true_random=False), st.lists(st.text()))
def test_content_decides_and_neither_order_nor_logs(rows, others, chance, logged):
    mixed = sorted(set(rows), key=repr)
    chance.shuffle(mixed)
    unlike = {(a, b or 0): (a, b or 0, c) for a, b, c in mixed}
    before, after = bag(list(unlike.values())), bag(list(unlike.values())[::-1], logged)
    assert difference(before, after, ("log",)) == ()
    assert state_hash(before, ("log",)) == state_hash(after, ("log",))
    assert (state_hash(before) == state_hash(after)) == (not logged)
    one, two = bag(rows), bag(others)
    changes = difference(one, two)
    assert bool(changes) == (state_hash(one) != state_hash(two))
    left = [tuple(c.before.values()) for c in changes if c.table == "keyless" and c.operation == "delete"]
    came = [tuple(c.after.values()) for c in changes if c.table == "keyless" and c.operation == "insert"]
    assert sorted([*rows, *came], key=repr) == sorted([*others, *left], key=repr)
    assert not set(left) & set(came) and all(c.operation != "update" for c in changes if c.table == "keyless")
