"""The reading of an action's rules that stands beside the tools must agree with the tools."""

from __future__ import annotations

import random

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.shadow import Shadow, Unclear

DATABASE, SNAPSHOT, TOOLS = shop_database(), shop_snapshot(), shop_tools()


def test_moves_one_after_the_other_end_as_the_tools_end() -> None:
    atlas, rng = Atlas(DATABASE, SNAPSHOT, TOOLS), random.Random(4)
    moves = [(action, tool) for action, tool in atlas.action_tools if action.kind == "transition"]
    shadow, calls, codes = Shadow(atlas), [], []
    for _ in range(40):
        action, tool = rng.choice(moves)
        key_column = atlas.tables[action.table].key
        key = rng.choice(atlas.rows[action.table])[key_column]
        codes.append(shadow.perform(action, key, {}))
        calls.append(Call(tool=tool.name, arguments={key_column: key}))
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(DATABASE, list(TOOLS), SNAPSHOT))
        outcome = worker.run_episode(calls)
    found = [step.observation.get("error", {}).get("code", "") for step in outcome.steps]
    assert [bool(code) for code in found] == [bool(code) for code in codes] and any(codes) and not all(codes)
    after = {(change.table, change.key): change.after for change in outcome.changes}
    expected = {place: row for place, row in shadow.changed.items() if row != atlas.by_key[place[0]][place[1]]}
    assert after == expected


def test_a_move_that_breaks_a_column_s_bounds_is_unclear() -> None:
    atlas = Atlas(DATABASE, SNAPSHOT, TOOLS)
    action = next(a for a in atlas.actions.values() if a.kind == "create")
    given = {"customer_id": atlas.rows["customers"][0]["customer_id"], "quantity": None}
    given["product_id"] = atlas.rows["products"][0]["product_id"]
    with pytest.raises(Unclear):
        Shadow(atlas).perform(action.model_copy(update={"rules": ()}), None, given)
