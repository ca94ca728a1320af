"""Parquet datasets, environments and releases."""

from __future__ import annotations

import sqlite3

import polars as pl
import pytest

from schemas.database import Column, Database, Table
from schemas.environment import Environment, Rejection
from schemas.task import AgentTask, AnswerField, Call, Oracle, Verifier
from schemas.tool import Tool
from tasks.store import (
    StoreError,
    collect_garbage,
    commit_environment,
    cut_release,
    environment_rows,
    list_keys,
    load_environment,
    open_store,
    put_blob,
    read_dataset,
    read_release,
    write_dataset,
)
from tasks.store.datasets import dataset_key

TASK = AgentTask(
    task_id="t1",
    env_id="e1",
    kind="graph",
    prompt='How many orders has "Ada"?',
    tools=("count_orders",),
    oracle=Oracle(calls=(Call(tool="count_orders", arguments={"name": "Ada", "n": {"$ref": "0.x"}}),)),
    oracle_calls=1,
    expected_answer={"orders": 3, "ratio": 0.5, "names": ["a", "ü"]},
    verifier=Verifier(answer=(AnswerField(name="orders", type="integer"),), expected_answer={"orders": 3}),
    pass_rates={"null": 0.0},
    kill_rate=None,
)


def _snapshot(layout: int = 1) -> bytes:
    with sqlite3.connect(":memory:", isolation_level=None) as connection:
        connection.execute(f"PRAGMA user_version = {layout}")
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY)")
        return connection.serialize()


SNAPSHOT = _snapshot()


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path / "store"))


def test_records_come_back_equal_and_bytes_are_stable(store):
    write_dataset(store, "agent_tasks", "e1", [TASK])
    first = store.get(dataset_key("agent_tasks", "e1"))
    write_dataset(store, "agent_tasks", "e1", [TASK])
    assert store.get(dataset_key("agent_tasks", "e1")) == first
    assert read_dataset(store, "agent_tasks", "e1") == [TASK]


def test_polars_reads_a_dataset(store, tmp_path):
    write_dataset(store, "rejections", "a", [Rejection(stage="s", key="k", gate="g", reason="r")])
    write_dataset(store, "rejections", "b", [])
    frame = pl.read_parquet(tmp_path / "store/datasets/rejections/*.parquet")
    assert frame["gate"].to_list() == ["g"]


def test_a_broken_part_and_a_newer_schema_say_so(store):
    store.put(dataset_key("rejections", "bad"), b"no parquet")
    with pytest.raises(StoreError, match="no readable Parquet"):
        read_dataset(store, "rejections")
    with pytest.raises(StoreError, match="no dataset 'nothing'"):
        read_dataset(store, "nothing")


def _environment(store) -> Environment:
    column = Column(name="id", type="integer", role="key")
    table = Table(name="things", noun="thing", nouns="things", key="id", columns=(column,), origin="mined", rows=2)
    tool = Tool(env_id="e1", name="get_thing", kind="get", description="", parameters={}, source_code="pass")
    database = Database(env_id="e1", theme_id="t", name="n", description="", tables=(table,),
                        start_time="2026-01-01T00:00:00", snapshot_sha256="")  # fmt: skip
    row = Environment(env_id="e1", theme_id="t", name="n", state="accepted")
    return commit_environment(store, row, database, SNAPSHOT, [tool], [], [], [])


def test_an_environment_is_committed_loaded_and_checked(store):
    row = _environment(store)
    loaded = load_environment(store, "e1")
    assert loaded.environment == row and loaded.snapshot == SNAPSHOT and row.n_rows == 2
    write_dataset(store, "tools", "e1", [])
    with pytest.raises(StoreError, match="not those that its row names"):
        load_environment(store, "e1")
    with pytest.raises(StoreError, match="no environment 'e2'"):
        load_environment(store, "e2")


@pytest.mark.parametrize(
    ("snapshot", "named", "said"),
    [(_snapshot(7), "", "layout 7, this release reads layouts up to 1"), (b"no database", "", "is no SQLite file"),
     (SNAPSHOT, "0" * 64, "not to 0000")],
    ids=["newer", "not_sqlite", "other_hash"],
)  # fmt: skip
def test_a_snapshot_that_cannot_be_trusted_is_one_error_wherever_it_is_read(store, snapshot, named, said):
    row = _environment(store)
    (database, tools) = (load_environment(store, "e1").database, read_dataset(store, "tools", "e1"))
    database = database.model_copy(update={"snapshot_sha256": named})
    commit_environment(store, row, database, snapshot, tools, [], [], [])
    with pytest.raises(StoreError, match=f"environment 'e1' in .*{said}"):
        load_environment(store, "e1")


def test_a_failed_environment_is_not_loaded(store):
    row = Environment(env_id="e9", theme_id="t", name="n", state="failed", reason="corpus missing")
    write_dataset(store, "environments", "e9", [row])
    with pytest.raises(StoreError, match="failed: corpus missing"):
        load_environment(store, "e9")
    assert environment_rows(store, "failed") == [row] and environment_rows(store, "accepted") == []


def test_garbage_is_what_nothing_names(store):
    _environment(store)
    orphan = put_blob(store, b"orphan")
    release = cut_release(store, {"environments": environment_rows(store), "agent_tasks": [TASK]})
    assert [key.rpartition("/")[2] for key in collect_garbage(store)] == [orphan]
    collect_garbage(store, dry_run=False)
    assert collect_garbage(store) == [] and load_environment(store, "e1")
    assert read_release(store, release)["datasets"]["agent_tasks"]["rows"] == 1


def test_an_equal_cut_is_the_same_release(store):
    assert cut_release(store, {"agent_tasks": [TASK]}) == cut_release(store, {"agent_tasks": [TASK]})
    assert len(list(store.list("releases/"))) == 1
    assert list_keys(store, "agent_tasks") == []


def test_a_part_of_an_older_writer_takes_defaults(store):
    import io

    import pyarrow.parquet as pq

    from schemas.arrow import to_table

    write_dataset(store, "agent_tasks", "new", [TASK])
    sink = io.BytesIO()
    old = to_table(AgentTask, 1, [TASK.model_copy(update={"task_id": "t2"})]).drop_columns(["guideline_id", "mutants"])
    pq.write_table(old, sink)
    store.put(dataset_key("agent_tasks", "old"), sink.getvalue())
    read = {task.task_id: task for task in read_dataset(store, "agent_tasks")}
    assert read["t1"] == TASK and read["t2"].guideline_id == "" and read["t2"].mutants == 0
