"""What a cell's value must look like in its source, and how the doable subgraphs of a world are counted."""

from __future__ import annotations

import pytest

from schemas.base import Scalar
from schemas.database import Column, Table
from tasks.mining import MinedTable
from tasks.mining.agent import executable_subgraphs
from tasks.mining.agent.check import SAMPLED, missing_cells, stands_in


@pytest.mark.parametrize(
    ("value", "text", "there"),
    [
        ("Paris", "Paris (France) | 2,102,650", True),
        ("paris  (france)", "Paris (France)", True),
        ("Par", "Paris", False),
        (2102650, "Paris | 2,102,650", True),
        (2102650, "Paris | 2 102 650", True),
        (2102651, "Paris | 2,102,650", False),
        (-3.5, "min \u22123.5 °C", True),
        ("12", "row of 2012", False),
        ("2020-03-07", "opened on 7 March 2020", True),
        ("2020-03-07", "07.03.2020", True),
        ("2020-03-08", "opened on 7 March 2020", False),
        (True, "Listed: yes", True),
        (False, "Listed: yes", False),
        ("a+b (c", "x a+b (c y", True),
    ],
)
def test_a_value_is_found_as_it_may_be_written(value: Scalar, text: str, there: bool):
    assert stands_in(value, text) is there


def test_of_large_tables_a_seeded_sample_is_looked_for():
    rows = [{"a": n, "b": n} for n in range(SAMPLED)]
    looked: set[int] = set()

    def place(n: int) -> str:
        looked.add(n)
        return f"{n} | {'x' if n == 5 else n}"

    assert missing_cells(rows, ["a", "b"], place, "7") == []
    first = set(looked)
    looked.clear()
    missing_cells(rows, ["a", "b"], place, "7")
    assert looked == first and 0 < len(first) < SAMPLED
    assert missing_cells([{"a": 1, "b": None}, {"a": 2, "b": ""}], ["a", "b"], lambda n: str(n), "7") == [
        (0, "a"), (1, "a")
    ]  # fmt: skip


def table(name: str, rows: list[dict[str, Scalar]], **references: str) -> MinedTable:
    columns = tuple(
        Column(name=column, type="string", role="key" if column == "id" else "attribute",
               references=references.get(column, ""))
        for column in rows[0]
    )  # fmt: skip
    schema = Table(name=name, noun=name, nouns=name, key="id", columns=columns, origin="mined", rows=len(rows))
    return MinedTable(schema, rows, "0" * 16, ["here"] * len(rows), "extract")


def test_only_joins_that_rows_can_follow_count():
    cities = table("cities", [{"id": "c1"}, {"id": "c2"}])
    hotels = table("hotels", [{"id": "h1", "city": "c1"}, {"id": "h2", "city": "c1"}], city="cities.id")
    stays = table("stays", [{"id": "s1", "hotel": "h2"}], hotel="hotels.id")
    lonely = table("lonely", [{"id": "l1"}])
    unused = table("unused", [{"id": "u1", "city": None}], city="cities.id")
    assert executable_subgraphs([cities]) == executable_subgraphs([cities, lonely]) == 0
    assert executable_subgraphs([cities, hotels]) == 2
    assert executable_subgraphs([cities, hotels, stays]) == 6
    assert executable_subgraphs([cities, hotels, stays, lonely, unused]) == 6


def test_more_rows_do_not_count_and_two_references_are_two_ways():
    airports = table("airports", [{"id": f"a{n}"} for n in range(9)])
    few = [{"id": "f1", "start": "a1", "end": "a2"}]
    many = [*few, *({"id": f"f{n}", "start": "a3", "end": "a4"} for n in range(2, 50))]
    links = {"start": "airports.id", "end": "airports.id"}
    assert executable_subgraphs([airports, table("flights", few, **links)]) == 4
    assert executable_subgraphs([airports, table("flights", many, **links)]) == 4
