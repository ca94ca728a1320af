"""An environment that is damaged, or newer than this release, stops nothing but its own work, and is written down."""

from __future__ import annotations

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from flows.oracles import record_oracles
from flows.redteam import attack_environment
from flows.worlds import load_or_reject
from schemas.environment import Environment
from tasks.store import commit_environment, open_store, put_blob, read_dataset, write_dataset
from tasks.store.blobs import blob_key


@pytest.fixture
def store(tmp_path):
    made = open_store(str(tmp_path / "store"))
    row = Environment(env_id="env-shop", theme_id="shop", name="Shop", state="accepted")
    database = shop_database().model_copy(update={"snapshot_sha256": ""})
    commit_environment(made, row, database, shop_snapshot(), list(shop_tools()), [], [], [])
    return made


def test_a_sound_environment_is_loaded_and_nothing_is_written_down(store):
    assert load_or_reject(store, "env-shop", "arena").snapshot == shop_snapshot()
    assert read_dataset(store, "rejections") == []


def test_a_damaged_one_is_a_rejection_with_its_reason(store):
    (row,) = read_dataset(store, "environments", "env-shop")
    store.put(blob_key(row.snapshot_sha256), b"SQLite format 3\0 and no more")
    assert record_oracles(store.uri, "train", "env-shop") == {"episodes": 0}
    assert attack_environment(store.uri, "env-shop", ["train"], 1)["tasks"] == 0
    found = {(r.stage, r.gate, r.env_id): r.reason for r in read_dataset(store, "rejections")}
    assert set(found) == {("training", "unusable", "env-shop"), ("redteam", "unusable", "env-shop")}
    assert all("is damaged (its content hashes to" in reason for reason in found.values())


def test_a_newer_one_says_what_to_install(store):
    (row,) = read_dataset(store, "environments", "env-shop")
    later = bytearray(shop_snapshot())
    later[60:64] = (99).to_bytes(4, "big")
    write_dataset(
        store, "environments", "env-shop", [row.model_copy(update={"snapshot_sha256": put_blob(store, bytes(later))})]
    )
    assert load_or_reject(store, "env-shop", "arena") is None
    (rejection,) = read_dataset(store, "rejections")
    assert "layout 99" in rejection.reason and "install a later one" in rejection.reason
