"""What was given as text keeps its digits and its words."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.base import Scalar
from schemas.theme import Source
from tasks.files.values import exact_column
from tasks.mining.agent.orders import TableOrder
from tasks.mining.agent.saving import SavedTable
from tasks.mining.agent.settle import join

MISSING = {"", "NULL", "NA", "None", "-"}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["3.40", "3.4", "3.10"], ["3.40", "3.4", "3.10"]),
        (["20.12", "20.10"], ["20.12", "20.10"]),
        (["08000", "12000"], ["08000", "12000"]),
        (["5", "5.0"], ["5", "5.0"]),
        (["12345678901234567.25"], ["12345678901234567.25"]),
        (["5", "5.5"], [5.0, 5.5]),
        (["7", "NA", "12"], [7, None, 12]),
        (["NULL", "SELECT", "None"], ["NULL", "SELECT", "None"]),
        (["2020-01-02", "-"], ["2020-01-02", None]),
        (["-", ""], [None, None]),
    ],
)
def test_texts_become_numbers_only_if_nothing_is_lost(given: list[Scalar], read: list[Scalar]):
    assert exact_column("value", given, MISSING) == read


def saved(name: str, rows: list[dict[str, Any]], **order: Any) -> SavedTable:
    columns = [one if isinstance(one, dict) else {"name": one} for one in order.pop("columns", list(rows[0]))]
    asked = {"name": name, "noun": name[:-1], "description": "x", "columns": columns, "source": "p1.t1", **order}
    source = Source(
        source_id="0" * 16, uri="file:///x", version="", sha256="0" * 64, retrieved_at="2026-01-01", licence="MIT",
        title="x",
    )  # fmt: skip
    return SavedTable(TableOrder.model_validate(asked), source, [(f"row {n}", row) for n, row in enumerate(rows)], "")


def test_a_key_of_decimals_stays_text_and_so_does_what_refers_to_it():
    chapters = saved("chapters", [{"no": f"20.{n}", "title": f"Part {n}"} for n in (1, 2, 12)], key="no")
    pages = [{"page": f"P{n}", "no": n} for n in (20.1, 20.2, 20.12)]
    link = [{"column": "no", "table": "chapters"}]
    joined = join({"chapters": chapters, "pages": saved("pages", pages, key="page", references=link)})
    assert joined.tables["chapters"].values("no") == ["20.1", "20.2", "20.12"]
    assert joined.references["pages"] == {"no": "chapters"} and joined.faults == {}


def test_words_for_nothing_are_values_of_a_key_and_a_type_can_be_asked_for():
    words = [{"word": word, "since": "1.50"} for word in ("NULL", "NA", "None", "-", "SELECT")]
    columns = ["word", {"name": "since", "type": "number"}]
    found = join({"keywords": saved("keywords", [*words, {"word": "AS", "since": "2"}], key="word", columns=columns)})
    assert found.tables["keywords"].values("word") == ["NULL", "NA", "None", "-", "SELECT", "AS"]
    assert found.tables["keywords"].values("since") == [1.5] * 5 + [2.0]


def test_a_declared_reference_is_not_taken_as_key_and_a_fault_names_its_one_cause():
    chapters = saved("chapters", [{"no": f"C{n}", "title": f"Part {n}"} for n in range(3)], key="no")
    rows = [{"no": f"C{n}", "weight": n} for n in range(3)]
    link = [{"column": "no", "table": "chapters"}]
    made = join({"chapters": chapters, "notes": saved("notes", rows, references=link)})
    assert (made.tables["notes"].table.key, made.references["notes"]) == ("note_id", {"no": "chapters"})
    keyed = join({"chapters": chapters, "notes": saved("notes", rows, key="no", references=link)})
    assert keyed.faults["notes"] == [
        "notes.no is the key of notes, and a key refers to nothing: leave `key` empty, and one is made"
    ]
