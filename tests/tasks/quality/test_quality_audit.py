"""The audit of tables: what fails is quarantined with its reason, what depends on it falls with it, the rest passes."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest
from audit_example import SHOP_SOURCE, agent_task, trajectory
from worlds import shop_tools

from schemas.arrow import to_table
from schemas.datasets import DATASETS
from schemas.environment import Environment
from schemas.episode import ArenaResult
from schemas.theme import Provenance, Theme
from tasks.quality import audit_tables, load_contracts
from tasks.quality.validate import Validator

SHA = "b" * 64
N_TOOLS = len(shop_tools())
THEME = Theme(
    theme_id="shop-0123abcd", kind="prd", name="Shop", description="", terms=("shop",), category_l1="a",
    category_l2="b", category_l3="c", source_id=SHOP_SOURCE.source_id, source_uri="file:///shop.md", source_version="",
    source_sha256=SHA, licence="MIT",
)  # fmt: skip


def environment(env_id="env-shop", **changes):
    fields = {
        "theme_id": THEME.theme_id, "name": "Shop", "category_l1": "a", "state": "accepted", "snapshot_sha256": SHA,
        "database_sha256": SHA, "tools_sha256": SHA, "n_tables": 4, "n_rows": 9, "n_documents": 2, "n_tools": 15,
        "sandbox": "bubblewrap", "split": "train", **changes,
    }  # fmt: skip
    return Environment(env_id=env_id, **fields)


def tools(env_id="env-shop", **changes):
    good = {"env_id": env_id, "tests_passed": 2, "tests_total": 2, "mutation_score": 1.0, "evidence": ("tests",)}
    return [tool.model_copy(update={**good, **changes}) for tool in shop_tools()]


def changed(task, **changes):
    return task.model_copy(update=changes)


ENVIRONMENTS = [
    environment(),
    environment("env-bad"),
    environment("env-old", state="rejected", reason="3 accepted tools, at least 8 are needed", n_tools=3),
    environment("env-silent", state="failed", reason=""),
    environment("env-small", n_tools=7),
    environment("env-lost"),
]
BAD_TOOLS = [changed(tool, tests_passed=1) if tool.name == "get_order" else tool for tool in tools("env-bad")]
TASKS = [
    changed(agent_task(0), kill_rate=None),
    changed(agent_task(1), kill_rate=0.0),
    changed(agent_task(2), prompt="Too short"),
    changed(agent_task(3), split="holiday"),
    changed(agent_task(4), env_id="env-nowhere"),
    changed(agent_task(5), difficulty=1.5),
    agent_task(6),
    agent_task(7),
    changed(agent_task(7), prompt="A different prompt under the same id"),
    agent_task(8, env_id="env-bad"),
    *[agent_task(n, "practice", "env-variant") for n in range(2)],
]
SOURCES = [
    SHOP_SOURCE,
    SHOP_SOURCE,
    changed(SHOP_SOURCE, title="The same bytes under another title", retrieved_at="2026-03-02T00:00:00Z"),
    changed(SHOP_SOURCE, source_id="00000000000000cc"),
    changed(SHOP_SOURCE, source_id="00000000000000cc", licence="Proprietary"),
]
EPISODES = [trajectory(agent_task(6), f"policy-{n}") for n in range(5)]


def _trajectories():
    """Return trajectories: four fit no record, one is there twice, the others refer to all kinds of tasks."""
    rows = [*EPISODES, EPISODES[4], *(trajectory(task) for task in TASKS[9:])]
    exact = to_table(DATASETS["trajectories"].model, 1, rows)
    table = exact.to_pydict()
    table["steps"][0] = '[{"tool": "list_orders"'
    table["steps"][1] = '[{"tool": "list_orders"}]'
    table["policy_id"][2] = None
    table["reward"][3] = float("nan")
    return pa.table(table, schema=pa.schema([pa.field(f.name, f.type) for f in exact.schema]))


def _result(task_id, policy_id):
    return ArenaResult(
        round=0, arm="before", policy_id=policy_id, env_id="env-shop", task_id=task_id, attempt=0, success=True,
        reward=1.0, kind="graph", category_l1="a", environment_split="train",
    )  # fmt: skip


def tables(**records):
    return {
        name: records[name]
        if isinstance(records.get(name), pa.Table)
        else to_table(d.model, d.version, records.get(name, ()))
        for name, d in DATASETS.items()
    }


@pytest.fixture(scope="module")
def contracts():
    return load_contracts()


@pytest.fixture(scope="module")
def validator():
    return Validator()


@pytest.fixture(scope="module")
def outcome(contracts, validator):
    """The audit of tables with a fault of each kind."""
    provenance = [
        Provenance(
            env_id=env_id, table_name="orders", row_key="1", source_id=SHOP_SOURCE.source_id, transform="extract"
        )
        for env_id in ("env-shop", "env-bad")
    ]
    faulty = tables(
        themes=[THEME], sources=SOURCES, environments=ENVIRONMENTS, agent_tasks=TASKS, provenance=provenance,
        tools=[*tools(), *BAD_TOOLS, *tools("env-old"), *tools("env-lost")], trajectories=_trajectories(),
        arena_results=[_result("task-train-6", "unknown-policy"), _result("task-train-0", "unknown-policy")],
    )  # fmt: skip
    findings = {"environments": {"snapshot": {"env-lost": "blob 12ab is missing"}}}
    return audit_tables(faulty, contracts, findings, validator)


def reasons(outcome, dataset):
    return {row.key: " | ".join(reason for _, reason in row.reasons) for row in outcome.datasets[dataset].quarantined}


def test_each_fault_of_a_row_is_quarantined_with_its_reason(outcome):
    found = reasons(outcome, "agent_tasks")
    assert set(found) == {f"task-train-{n}" for n in (0, 1, 2, 3, 4, 5, 7, 8)}
    assert "kill_rate is there where the row is for release" in found["task-train-0"]
    assert "kill_rate is more than 0" in found["task-train-1"] and "found '0.0'" in found["task-train-1"]
    assert "prompt has at least 20 characters" in found["task-train-2"]
    assert "split matches" in found["task-train-3"] and "'holiday'" in found["task-train-3"]
    assert "env_id refers to a row of environments(env_id)" in found["task-train-4"]
    assert "difficulty is at least 0 and at most 1" in found["task-train-5"]
    assert "no two rows have the same task_id" in found["task-train-7"]
    assert [row.key for row in outcome.datasets["agent_tasks"].quarantined].count("task-train-7") == 2
    assert [record.task_id for record in outcome.datasets["agent_tasks"].records] == ["task-train-6"]


def test_a_quarantined_row_keeps_its_content_and_becomes_a_rejection(outcome):
    row = next(row for row in outcome.quarantined if row.key == "task-train-2")
    assert json.loads(row.row)["prompt"] == "Too short"
    rejection = row.rejections()[0]
    assert (rejection.stage, rejection.key, rejection.gate) == ("audit", "agent_tasks/task-train-2", "length")
    assert rejection.env_id == "env-shop" and "found 'Too short'" in rejection.reason


def test_rows_that_no_record_can_hold(outcome):
    found = reasons(outcome, "trajectories")
    shared = "-task-train-6"
    assert "steps is JSON" in found[f"ep-policy-0{shared}"]
    assert "does not fit its record type: steps.0.arguments: Field required" in found[f"ep-policy-1{shared}"]
    assert "it has no policy_id" in found[f"ep-policy-2{shared}"]
    assert "it has no reward" in found[f"ep-policy-3{shared}"]
    assert [record.policy_id for record in outcome.datasets["trajectories"].records] == ["policy-4"]


def test_equal_rows_count_once(outcome):
    assert outcome.datasets["trajectories"].folded == 1
    assert (outcome.datasets["sources"].rows, outcome.datasets["sources"].folded) == (3, 2)
    assert outcome.datasets["sources"].records == (SHOP_SOURCE,)
    assert set(reasons(outcome, "sources")) == {"00000000000000cc"}, "the same source under two licences"


def test_a_quarantined_tool_takes_its_environment_and_all_that_depends_on_it(outcome):
    assert "tests_total is at most tests_passed" in reasons(outcome, "tools")["env-bad / get_order"]
    found = reasons(outcome, "environments")
    assert found["env-bad"] == "a part of it is quarantined: tools 'env-bad / get_order'"
    lost = "depends on environments 'env-bad', which is quarantined"
    assert reasons(outcome, "agent_tasks")["task-train-8"] == lost
    assert reasons(outcome, "trajectories")["ep-oracle-task-train-8"]
    assert reasons(outcome, "provenance") == {"env-bad / orders / 1": lost}
    assert reasons(outcome, "tools")["env-bad / ship_order"] == lost
    assert {record.env_id for record in outcome.datasets["tools"].records} == {"env-shop"}
    assert reasons(outcome, "arena_results") == {
        "0 / before / arena / unknown-policy / task-train-0 / 0": (
            "depends on agent_tasks 'task-train-0', which is quarantined"
        )
    }


def test_environments_must_keep_what_their_state_promises(outcome):
    found = reasons(outcome, "environments")
    assert set(found) == {"env-bad", "env-silent", "env-small", "env-lost"}
    assert "reason is not empty where state is rejected or failed" in found["env-silent"]
    assert "n_tools is at least 8 where state is accepted and origin is mined; found '7'" in found["env-small"]
    assert found["env-lost"] == "blob 12ab is missing"
    assert [record.env_id for record in outcome.datasets["environments"].records] == ["env-shop", "env-old"]


def test_practice_and_what_belongs_to_a_rejected_environment_is_held_back(outcome):
    assert outcome.datasets["agent_tasks"].held_back == {"practice": 2}
    assert outcome.datasets["trajectories"].held_back == {"its row of agent_tasks is held back: practice": 2}
    assert outcome.datasets["tools"].held_back == {"its environment was not accepted": N_TOOLS}


def test_a_warning_leaves_the_row_alone(outcome):
    results = [r for r in outcome.results if r.dataset == "arena_results" and not r.success]
    assert [(r.column, r.detail) for r in results] == [("policy_id", "warning; e.g. unknown-policy")]
    assert [record.task_id for record in outcome.datasets["arena_results"].records] == ["task-train-6"]
    assert not any(o.failed for o in outcome.datasets["arena_results"].outcomes)


def test_every_row_passes_or_is_held_back_or_is_quarantined(outcome):
    for name, audit in outcome.datasets.items():
        assert audit.rows == len(audit.passed) + len(audit.quarantined) + sum(audit.held_back.values()), name
        assert len(audit.records) == len(audit.passed), name


def test_a_table_without_a_column_is_quarantined_whole(contracts, validator):
    table = to_table(DATASETS["themes"].model, 1, [THEME]).drop_columns(["licence", "theme_id"])
    outcome = audit_tables(tables(themes=table, environments=[environment()]), contracts, validator=validator)
    assert "missing columns: licence, theme_id" in reasons(outcome, "themes")["row 0"].lower()
    assert "refers to a row of themes(theme_id)" in reasons(outcome, "environments")["env-shop"]


def test_exactly_the_rows_that_break_the_contract_are_quarantined(contracts, validator):
    rng = random.Random(11)
    base, made, wrong = shop_tools()[0], [], set()
    for n in range(200):
        passed, total = rng.randint(-1, 6), rng.randint(-1, 6)
        passed = total if rng.random() < 0.7 else passed
        score = rng.choice((None, 0.5, 1.0, rng.uniform(-0.5, 1.5)))
        evidence = ("tests",) if rng.random() < 0.9 else ()
        update = {"name": f"tool_{n}", "tests_passed": passed, "tests_total": total, "mutation_score": score}
        made.append(base.model_copy(update={**update, "evidence": evidence}))
        if not (0 <= passed == total >= 1 and (score is None or 0.5 <= score <= 1) and evidence):
            wrong.add(f"{base.env_id} / tool_{n}")
    assert 50 < len(wrong) < 150
    outcome = audit_tables(tables(tools=made), {**contracts}, validator=validator)
    own = {
        row.key for row in outcome.datasets["tools"].quarantined if {gate for gate, _ in row.reasons} != {"reference"}
    }
    assert own == wrong
