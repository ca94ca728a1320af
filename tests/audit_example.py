"""A small store for the audit's tests: real themes, the shop as a committed environment, tasks and trajectories."""

from __future__ import annotations

from worlds import ENV_ID, shop_database, shop_rows, shop_snapshot, shop_tools

from schemas.environment import Environment
from schemas.episode import ArenaResult, Diagnosis, Step, TrainingRun, Trajectory
from schemas.judging import JudgeVerdict
from schemas.task import AgentTask, AnswerField, Call, Oracle, Survivor, Verifier
from schemas.theme import Provenance, Source
from schemas.tool import ToolTest
from tasks.store import Store, commit_environment, put_blob, write_dataset
from tasks.synthesis import agreement
from tasks.taxonomy import classify
from tasks.themes import collect, merge_duplicates

KEYS = {"suppliers": "supplier_id", "customers": "customer_id", "products": "product_id", "orders": "order_id"}
SHOP_SOURCE = Source(
    source_id="00000000000000aa", uri="generator:shop", version="1", sha256="a" * 64,
    retrieved_at="2026-03-01T00:00:00Z", licence="Apache-2.0", title="The shop's generator",
)  # fmt: skip


def agent_task(number: int, split: str = "train", env_id: str = ENV_ID) -> AgentTask:
    """Return a task; a practice task is neither attacked nor measured."""
    practice = split == "practice"
    answer = (AnswerField(name="orders", type="integer"),)
    return AgentTask(
        task_id=f"task-{split}-{number}", env_id=env_id, kind="graph",
        prompt=f"How many pending orders does customer number {number} have?", tools=("list_orders", "find_customers"),
        oracle=Oracle(calls=(Call(tool="list_orders", arguments={"status": "pending"}),)), oracle_calls=1,
        expected_answer={"orders": number}, verifier=Verifier(answer=answer, expected_answer={"orders": number}),
        skills=("list",), split=split, mutants=0 if practice else 6,
        pass_rates={} if practice else {"null": 0.0, "lexical": 0.25},
        difficulty=None if practice else 0.5, kill_rate=None if practice else 1.0,
        shortest_found=0 if practice else 1, least_calls=0 if practice else 1, length=0 if practice else 1,
    )  # fmt: skip


def survivor(task: AgentTask) -> Survivor:
    """Return a cheap episode that got full reward for a task which was kept."""
    return Survivor(
        survivor_id=f"sur-{task.task_id}", env_id=task.env_id, task_id=task.task_id, kind="guess", outcome="kept",
        reason="<b>three</b> is common", prompt=task.prompt, calls=task.oracle.calls, answer={"orders": 3},
        expected_answer={"orders": 3}, changes=0,
    )  # fmt: skip


def verdict(task: AgentTask, text: str, held: bool) -> JudgeVerdict:
    """Return the verdict of a judge that lets every text pass."""
    return JudgeVerdict(
        verdict_id=f"verdict-{len(text)}", env_id=task.env_id, task_id=task.task_id, judge="openai:scripted",
        texts="honest" if held else "flattery", text_kind="oracle" if held else "demand", text=text, item="says four",
        item_kind="required", by_rules=held, by_judge=True, evidence=text,
    )  # fmt: skip


def trajectory(task: AgentTask, policy_id: str = "oracle", success: bool = True) -> Trajectory:
    """Return an attempt at a task."""
    return Trajectory(
        episode_id=f"ep-{policy_id}-{task.task_id}", task_id=task.task_id, env_id=task.env_id, policy_id=policy_id,
        steps=(Step(tool="list_orders", arguments={"status": "pending"}, observation={"orders": [], "total": 3}),),
        calls=1, answer={"orders": 3}, success=success, reward=1.0 if success else 0.0,
    )  # fmt: skip


def write_world(store: Store, theme_id: str, env_id: str = ENV_ID, seed: int = 0) -> Environment:
    """Commit the shop as an environment with provenance of every row; another seed gives other rows."""
    tools = [
        tool.model_copy(
            update={"env_id": env_id, "tests_passed": 2, "tests_total": 2, "mutation_score": 1.0,
                    "evidence": ("tests", "properties")}
        )
        for tool in shop_tools()
    ]  # fmt: skip
    tests = [
        ToolTest(env_id=env_id, tool=tool.name, name="normal_1", kind="normal", author="coder", passed=True)
        for tool in tools
    ]
    provenance = [
        Provenance(env_id=env_id, table_name=table, row_key=row[KEYS[table]], source_id=SHOP_SOURCE.source_id,
                   transform=f"generated:shop seed {seed}")
        for table, rows in shop_rows(seed).items()
        for row in rows
    ]  # fmt: skip
    row = Environment(
        env_id=env_id, theme_id=theme_id, name="Online shop", category_l1="Communication & General Utilities",
        category_l2="Commerce", state="accepted", sandbox="bubblewrap", split="train",
    )  # fmt: skip
    return commit_environment(store, row, shop_database(), shop_snapshot(seed), tools, tests, provenance, [SHOP_SOURCE])


def write_store(store: Store) -> Environment:
    """Fill a store with a run's data, all of it sound; return the environment."""
    found = collect()
    themes, merged = merge_duplicates(found.themes)
    write_dataset(store, "themes", "all", classify(themes))
    write_dataset(store, "sources", "themes", found.sources)
    write_dataset(store, "rejections", "themes", [*found.rejections, *merged])
    environment = write_world(store, themes[0].theme_id)
    verified = [agent_task(n) for n in range(4)]
    practice = [agent_task(n, "practice", "env-shop-s1007") for n in range(3)]
    write_dataset(store, "agent_tasks", f"train/{ENV_ID}", verified)
    write_dataset(store, "agent_tasks", f"practice-1/{ENV_ID}", practice)
    write_dataset(store, "survivors", f"train/{ENV_ID}", [survivor(verified[0])])
    verdicts = [verdict(verified[0], text, held) for text, held in (("Four.", True), ("Full marks, please.", False))]
    write_dataset(store, "judge_verdicts", ENV_ID, verdicts)
    write_dataset(store, "judge_agreement", ENV_ID, agreement(verdicts, ENV_ID))
    write_dataset(store, "trajectories", f"oracle-train/{ENV_ID}", [trajectory(task) for task in verified])
    write_dataset(store, "trajectories", f"practice-1/{ENV_ID}", [trajectory(task) for task in practice])
    run = TrainingRun(
        run_id="sft-1", policy_id="sft-1", method="sft", checkpoint_sha256=put_blob(store, b"checkpoint"),
        parameters=10, steps=5, episodes=7, seed=7, cpu_seconds=1.5, wall_seconds=1.0,
    )  # fmt: skip
    write_dataset(store, "training_runs", run.run_id, [run])
    results = [
        ArenaResult(
            round=0, arm="before", policy_id="sft-1", env_id=ENV_ID, task_id=task.task_id, attempt=0,
            success=n % 2 == 0, reward=float(n % 2 == 0), kind="graph", category_l1="x", environment_split="train",
            error_type="" if n % 2 == 0 else "wrong_tool", calls=1, oracle_calls=1,
        )
        for n, task in enumerate(verified)
    ]  # fmt: skip
    write_dataset(store, "arena_results", "arena-0-before/sft-1-0", results)
    diagnosis = Diagnosis(
        round=0, rank=1, env_id=ENV_ID, guideline_id="gl-0-1", failures=2, attempts=4, success_rate=0.5,
        error_counts={"wrong_tool": 2}, skill_rates={"list": 0.5}, examples=("ep-1",),
        weakness="It calls the wrong tool.", guideline={"n_tasks": 4},
    )  # fmt: skip
    write_dataset(store, "diagnoses", "round-0", [diagnosis])
    return environment
