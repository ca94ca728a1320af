"""Synthesise agent tasks that are trusted: every candidate passes all gates or is rejected with the gate's name."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from schemas.database import Database
from schemas.environment import Rejection
from schemas.task import AgentTask, Survivor
from schemas.tool import Tool
from tasks.environment import EnvironmentImage
from tasks.models import Gateway
from tasks.rollout import ToolSignature
from tasks.sandbox import Limits, SandboxWorker
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.attack import Attacker
from tasks.synthesis.author import GOAL_LIMITS, Author, GoalWriter
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.families.kit import find_links
from tasks.synthesis.graph import tool_graph
from tasks.synthesis.graphs import LENGTHS, WIDE_LENGTHS, build_graph_task
from tasks.synthesis.long.build import build_long
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.program import build_program
from tasks.synthesis.replay import Bench
from tasks.synthesis.trust import STAGE, Trust, oracle_key

Kind = Literal["graph", "program", "long", "goal"]
"""graph: chains; program: by rules; long: programs of at least 7 calls; goal: programs by a model, else by rules."""

CANDIDATES_PER_TASK = 4
"""How many candidates may be tried for each wanted task before the search ends."""


@dataclass(frozen=True)
class SynthesisResult:
    """Accepted tasks, rejected candidates, counts (candidates, accepted, rejected by gate, mutants by kind, cpu_seconds
    with those of sandboxes, ...) and the wrong episodes that got full reward on the way, with what came of them.

    `notes` are steps that a model failed and rules did instead; they are no candidates and not counted in `stats`.
    """

    tasks: tuple[AgentTask, ...]
    rejections: tuple[Rejection, ...]
    stats: dict[str, Any] = field(default_factory=dict)
    survivors: tuple[Survivor, ...] = ()
    notes: tuple[Rejection, ...] = ()


class Writer:
    """Writes candidates for one environment; what can be computed once is."""

    def __init__(
        self, database: Database, snapshot: bytes, tools: Sequence[Tool], phrasing: Phrasing = "train"
    ) -> None:
        self.atlas = Atlas(database, snapshot, list(tools))
        self.graph = tool_graph(self.atlas)
        self.links = find_links(self.atlas)
        self.phrasing: Phrasing = phrasing
        self.written: Counter[str] = Counter()
        self.goals: GoalWriter | None = None

    def write(
        self, kind: Kind, rng: random.Random, skills: Sequence[str] = (), lengths: dict[int, int] | None = None,
        name: str = "",
    ) -> Candidate | None:  # fmt: skip
        """Return one candidate of a kind, or None if nothing could be bound. `name` is for notes on a model's steps."""
        if kind == "goal":
            goal = self.goals.write(skills, name) if self.goals is not None else None
            if goal is not None:
                return goal
        if kind == "graph":
            return build_graph_task(self.atlas, self.graph, rng, self.phrasing, skills, lengths)
        write = build_long if kind == "long" else build_program
        candidate = write(self.atlas, self.links, rng, self.phrasing, skills, self.written)
        self.written.update([candidate.template] if candidate is not None else [])
        return candidate


def synthesize(
    database: Database,
    snapshot: bytes,
    tools: Sequence[Tool],
    *,
    seed: int,
    n: int,
    kinds: Sequence[Kind] = ("graph", "program"),
    skills: Sequence[str] | None = None,
    phrasing: Phrasing = "train",
    min_calls: int = 3,
    max_calls: int = 16,
    exclude: Iterable[AgentTask] = (),
    arm: str = "",
    guideline_id: str = "",
    worker: SandboxWorker | None = None,
    max_candidates: int | None = None,
    lengths: dict[int, int] | None = None,
    gateway: Gateway | None = None,
    goal_limits: Limits = GOAL_LIMITS,
) -> SynthesisResult:
    """Return up to `n` trusted tasks for an environment.

    Args:
        seed: everything follows from it; the same inputs and seed give the same tasks.
        n: how many tasks are wanted. Fewer come back if the candidates run out.
        kinds: which kinds to write, in turn.
        skills: tool kinds (search, get, aggregate, create ...) and constructs (loop, conditional, aggregation, join,
            decline) that every task must exercise one of; None for undirected tasks.
        phrasing: which share of the phrasings to use; "held_out" for the arena.
        min_calls, max_calls: bounds on the calls that the oracle makes; with less than 3, two fifths of the chains are
            short, so that solvers of little strength can be told apart too.
        exclude: tasks whose oracles must not come again.
        arm, guideline_id: recorded in the tasks.
        worker: a running sandbox worker to use as the main one; two more are started for the replays.
        max_candidates: how many candidates to try at most.
        lengths: aimed lengths of chains -> weight; None: by `min_calls`.
        gateway: its model of the role task_writer, if it has one, reviews chains, tells their requests anew and writes
            goals. None: rules alone.
        goal_limits: what a script of a goal may use when it is tried.

    Raises:
        ValueError: if the snapshot cannot be read.
        SandboxError: if the environment cannot be loaded.
    """
    started, before = time.process_time(), worker.cpu_s if worker is not None else 0.0
    writer = Writer(database, snapshot, tools, phrasing)
    image = EnvironmentImage.of(database, list(tools), snapshot)
    signatures = tuple(ToolSignature.of(tool) for tool in tools)
    seen = {oracle_key(task.oracle) for task in exclude}
    tasks: list[AgentTask] = []
    rejections: list[Rejection] = []
    limit = max_candidates if max_candidates is not None else CANDIDATES_PER_TASK * n + 10
    index = 0
    kinds = fitting_kinds(writer.atlas, kinds, skills)
    lengths = lengths or (WIDE_LENGTHS if min_calls < min(LENGTHS) else LENGTHS)
    author = Author(gateway, writer.atlas) if gateway is not None and gateway.has("task_writer") else None
    with ExitStack() as stack:
        bench = stack.enter_context(Bench(image, worker))
        attacker = Attacker(bench, writer.atlas, signatures, database.env_id)
        trust = Trust(bench, writer.atlas, signatures, database.env_id, min_calls, max_calls, attacker)
        if author is not None:
            bounds = (min_calls, max_calls)
            writer.goals = stack.enter_context(GoalWriter(author, image, seed, bounds, phrasing, goal_limits))
        lost: list[tuple[AgentTask, str]] = []
        while lost or not index:
            while len(tasks) < n and index < limit:
                name = f"{database.env_id}/{seed}/{index}"
                rng = random.Random(name)
                candidate = writer.write(
                    kinds[index % len(kinds)], rng, tuple(skills or ()), lengths, f"{seed}/{index}"
                )
                key = candidate.key if candidate is not None else f"{seed}/{index}"
                retells = author is not None and candidate is not None and candidate.kind == "graph"
                gate, reason, task = trust.judge(candidate, rng, seen, skills, keep=not retells)
                if task is not None and retells:
                    gate, reason, task = author.improve(candidate, task, trust, seen, skills, name)
                if task is None:
                    rejections.append(Rejection(stage=STAGE, key=key, gate=gate, reason=reason, env_id=database.env_id))
                else:
                    seen.add(oracle_key(task.oracle))
                    tasks.append(task.model_copy(update={"arm": arm, "guideline_id": guideline_id, "seed": seed}))
                index += 1
            lost = attacker.guessed(tasks)  # what the finished set gives away about each of its tasks
            for task, reason in lost:
                tasks.remove(task)
                rejections.append(
                    Rejection(stage=STAGE, key=task.task_id, gate="guessable", reason=reason, env_id=database.env_id)
                )
            index = max(index, 1)
        spent = time.process_time() - started + bench.cpu_s - before
    stats = _stats(tasks, rejections, spent) | attacker.stats
    notes = tuple(author.notes) if author is not None else ()
    return SynthesisResult(tuple(tasks), tuple(rejections), stats, tuple(attacker.survivors), notes)


def fitting_kinds(atlas: Atlas, kinds: Sequence[Kind], skills: Sequence[str] | None) -> Sequence[Kind]:
    """Return the kinds of task that can exercise the skills: chains exercise kinds of tools, programs constructs."""
    chained = {tool.kind for tool in atlas.tools.values()} - {"document"}
    if not skills or chained & set(skills) or not {"program", "long", "goal"} & set(kinds):
        return kinds
    return tuple(kind for kind in kinds if kind != "graph")


def _stats(tasks: Sequence[AgentTask], rejections: Sequence[Rejection], seconds: float) -> dict[str, Any]:
    graph = [task.oracle_calls for task in tasks if task.kind == "graph"]
    return {
        "candidates": len(tasks) + len(rejections),
        "accepted": len(tasks),
        "rejected": dict(sorted(Counter(rejection.gate for rejection in rejections).items())),
        "templates": dict(sorted(Counter(t.template for t in tasks if t.kind == "program").items())),
        "mean_graph_calls": round(fmean(graph), 2) if graph else 0.0,
        "kill_rate": round(fmean(t.kill_rate or 0.0 for t in tasks), 4) if tasks else 0.0,
        "cpu_seconds": round(seconds, 3),
    }
