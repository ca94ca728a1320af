"""The audit of a store: damage is quarantined and named, the release holds what passed, the pages show it offline."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from audit_example import SHOP_SOURCE, agent_task, write_store, write_world

from schemas.arrow import from_table
from schemas.datasets import DATASETS
from schemas.environment import Rejection
from tasks.quality import audit_store
from tasks.store import get_blob, list_keys, open_store, put_blob, read_dataset, read_release, write_dataset
from tasks.store.blobs import blob_key

SCRIPT = "<script>alert('a')</script>"


def _outputs(store):
    """Return all that an audit writes."""
    written = ("docs/", "quarantine/", "releases/", "datasets/quality_results/", "datasets/rejections/audit")
    return {key: store.get(key) for prefix in written for key in store.list(prefix)}


def _parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _damage(store):
    """Break one thing of each kind."""
    theme_id = read_dataset(store, "themes")[0].theme_id
    lost = write_world(store, theme_id, "env-lost", seed=1)
    store.delete(blob_key(lost.snapshot_sha256))
    write_world(store, theme_id, "env-swapped")
    write_dataset(store, "tools", "env-swapped", read_dataset(store, "tools", "env-swapped")[:-1])
    rotten = write_world(store, theme_id, "env-rotten")
    wreck = put_blob(store, b"SQLite format 3\x00" + b"\x07" * 5000)
    write_dataset(store, "environments", "env-rotten", [rotten.model_copy(update={"snapshot_sha256": wreck})])
    store.put("datasets/sources/broken.parquet", b"PAR1 no more")
    columns = {
        "source_id": [1],
        "uri": ["x"],
        "version": ["1"],
        "sha256": ["x"],
        "retrieved_at": ["x"],
        "licence": ["x"],
    }
    store.put("datasets/sources/strange.parquet", _parquet(pa.table(columns)))
    old = SHOP_SOURCE.model_dump(exclude={"title"}) | {"source_id": "00000000000000bb"}
    store.put("datasets/sources/old.parquet", _parquet(pa.Table.from_pylist([old])))
    wrong = agent_task(50).model_copy(update={"prompt": SCRIPT, "kill_rate": None})
    write_dataset(store, "agent_tasks", "train/env-wrong", [wrong])
    write_dataset(store, "rejections", "odd", [Rejection(stage="x", key="y", gate="No Snake", reason="because")])


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A store with sound data and one thing of each kind broken, the audit's summary and what it wrote."""
    store = open_store(str(tmp_path_factory.mktemp("damaged") / "store"))
    write_store(store)
    _damage(store)
    store.put("quarantine/diagnoses.parquet", b"left by an older audit")
    store.put("docs/old.html", b"left by an older audit")
    return store, audit_store(store.uri), _outputs(store)


def test_damage_is_quarantined_with_its_reason(damaged):
    store, summary, *_ = damaged
    assert summary["failed"] and summary["quarantined"]
    frame = pl.read_parquet(io.BytesIO(store.get("quarantine/environments.parquet")))
    found = dict(zip(frame["key"], frame["reasons"], strict=True))
    assert set(found) == {"env-lost", "env-swapped", "env-rotten"}
    assert "no object" in found["env-lost"]
    assert "are not those that its row names" in found["env-swapped"]
    assert "the snapshot's content hashes to" in found["env-rotten"]
    sources = pl.read_parquet(io.BytesIO(store.get("quarantine/sources.parquet")))
    found = dict(zip(sources["part"], sources["reasons"], strict=True))
    assert "no readable Parquet file" in found["broken"]
    assert "column 'source_id' is int64, not string" in found["strange"]
    rejections = read_dataset(store, "rejections", "audit")
    assert {(r.key, r.gate) for r in rejections} >= {
        ("sources/part broken", "unreadable_part"),
        ("environments/env-lost", "damaged"),
        ("tools/env-lost / get_order", "depends_on"),
        ("agent_tasks/task-train-50", "not_null"),
        ("rejections/x /  / y / No Snake / because", "pattern"),
    }
    failed = [r for r in read_dataset(store, "quality_results") if not r.success]
    assert ("sources", "expect_parts_to_be_readable") in {(r.dataset, r.expectation) for r in failed}


def test_the_release_holds_what_passed(damaged):
    store, summary, *_ = damaged
    manifest = read_release(store, summary["release"])
    rows = {name: entry["rows"] for name, entry in manifest["datasets"].items()}
    assert (rows["environments"], rows["agent_tasks"], rows["tools"]) == (1, 4, 15)
    tasks_ = pl.read_parquet(io.BytesIO(get_blob(store, manifest["datasets"]["agent_tasks"]["sha256"])))
    assert set(tasks_["split"]) == {"train"}, "practice is no part of a release"
    sources = pq.read_table(io.BytesIO(get_blob(store, manifest["datasets"]["sources"]["sha256"])))
    titles = {s.source_id: s.title for s in from_table(DATASETS["sources"].model, sources)}
    assert titles["00000000000000bb"] == "", "a column that an older writer did not know takes its default"
    shop = next(row for row in read_dataset(store, "environments") if row.env_id == "env-shop")
    assert set(manifest["blobs"]) == {shop.snapshot_sha256, shop.database_sha256}
    assert list_keys(store, "environments") == ["env-lost", "env-rotten", "env-shop", "env-swapped"], (
        "nothing is removed"
    )


def test_what_an_older_audit_left_is_gone(damaged):
    assert not {"quarantine/diagnoses.parquet", "docs/old.html"} & set(damaged[2])


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.tags, self.words = [], set(), set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        self.ids |= {given["id"]} if "id" in given else set()

    def handle_data(self, data):
        self.words.append(data)


def _pages(outputs):
    return {key.removeprefix("docs/"): _Page(raw.decode()) for key, raw in outputs.items() if key.startswith("docs/")}


def test_pages_need_nothing_but_themselves_and_their_links_lead_somewhere(damaged):
    pages = _pages(damaged[2])
    assert set(pages) == {"index.html", *(f"{name}.html" for name in DATASETS)}
    for name, page in pages.items():
        assert not page.tags & {"script", "link", "img", "iframe", "object"}, name
        for link in page.links:
            file, _, anchor = link.partition("#")
            if file != "../report.html":
                assert (file or name) in pages, f"{name}: {link}"
                assert not anchor or anchor in pages[file or name].ids, f"{name}: {link}"
        assert "../report.html" in page.links
    for raw in damaged[2].values():
        assert SCRIPT.encode() not in raw or not raw.startswith(b"<!doctype")
    assert "url(" not in damaged[2]["docs/index.html"].decode()


def test_pages_show_contracts_outcomes_quarantined_rows_and_environments(damaged):
    store, summary, outputs, *_ = damaged
    pages = _pages(outputs)
    text = {name: re.sub(r"\s+", " ", " ".join(page.words)) for name, page in pages.items()}
    assert set(DATASETS) <= pages["index.html"].ids
    assert str(summary["release"]) in text["index.html"]
    assert f"{summary['failed']} of {summary['expectations']} expectations failed" in text["index.html"]
    assert {"env-shop", "env-lost"} <= pages["environments.html"].ids
    assert "blobs/sha256" in text["environments.html"]
    assert SCRIPT in text["agent_tasks.html"], "escaped, so it shows as text"
    assert "Share of wrong episodes that the verifier refuses" in text["agent_tasks.html"]
    assert "expect_column_values_to_be_in_set" in text["agent_tasks.html"]
    assert "generator:shop" in text["environments.html"]


def test_survivors_are_listed_with_their_episodes_and_sets_with_their_scores(damaged):
    store, summary, outputs, *_ = damaged
    pages = _pages(outputs)
    shown = " ".join(pages["survivors.html"].words)
    assert "<b>three</b> is common" in shown and "list_orders" in shown and "kept" in shown
    assert summary["survivors"] == 1
    scores = {(s.set_name, s.policy_id): s for s in read_dataset(store, "set_scores", "audit")}
    assert scores["train", "lexical"].score == 0.25 and scores["release", "null"].score == 0.0
    assert scores["release", "null"].tasks == len(read_release_tasks(store, summary))
    assert "practice" not in {name for name, _ in scores}
    assert summary["without_skill"] == "null 0.0000, lexical 0.2500"
    assert "0.2500" in " ".join(pages["set_scores.html"].words)


def test_judged_sets_are_shown_with_what_the_judge_let_pass(damaged):
    store, _, outputs, *_ = damaged
    rows = {(row.texts, row.level): row for row in read_dataset(store, "judge_agreement")}
    assert (rows["all", "item"].n, rows["all", "item"].accuracy, rows["flattery", "text"].false_positives) == (
        2,
        0.5,
        1,
    )
    shown = " ".join(_pages(outputs)["judge_agreement.html"].words)
    assert "openai:scripted" in shown and "0.5000" in shown and "flattery" in shown


def read_release_tasks(store, summary):
    """Return the rows of the release's tasks."""
    manifest = read_release(store, str(summary["release"]))
    return pq.read_table(io.BytesIO(get_blob(store, manifest["datasets"]["agent_tasks"]["sha256"]))).to_pylist()
