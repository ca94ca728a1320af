"""Synthesise agent tasks that are trusted: every candidate passes all gates or is rejected with the gate's name."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Literal

from schemas.base import content_hash
from schemas.database import Database
from schemas.environment import Rejection
from schemas.task import AgentTask, Oracle, Survivor, Verifier
from schemas.tool import Tool
from tasks.environment import EnvironmentImage, verify
from tasks.rollout import ToolSignature
from tasks.sandbox import SandboxWorker
from tasks.synthesis import gates
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.attack import Attacker
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.families.kit import find_links
from tasks.synthesis.graph import tool_graph
from tasks.synthesis.graphs import LENGTHS, WIDE_LENGTHS, build_graph_task
from tasks.synthesis.long.build import LEAST as LONG
from tasks.synthesis.long.build import build_long
from tasks.synthesis.offer import offered_tools
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.program import build_program
from tasks.synthesis.replay import Bench, Run

Kind = Literal["graph", "program", "long"]
STAGE = "synthesis"
CANDIDATES_PER_TASK = 4
"""How many candidates may be tried for each wanted task before the search ends."""


@dataclass(frozen=True)
class SynthesisResult:
    """Accepted tasks, rejected candidates, counts (candidates, accepted, rejected by gate, mutants by kind, cpu_seconds
    with those of sandboxes, ...) and the wrong episodes that got full reward on the way, with what came of them."""

    tasks: tuple[AgentTask, ...]
    rejections: tuple[Rejection, ...]
    stats: dict[str, Any] = field(default_factory=dict)
    survivors: tuple[Survivor, ...] = ()


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

    def write(
        self, kind: Kind, rng: random.Random, skills: Sequence[str] = (), lengths: dict[int, int] | None = None
    ) -> Candidate | None:
        """Return one candidate of a kind, or None if nothing could be bound."""
        if kind == "graph":
            return build_graph_task(self.atlas, self.graph, rng, self.phrasing, skills, lengths)
        write = build_long if kind == "long" else build_program
        candidate = write(self.atlas, self.links, rng, self.phrasing, skills, self.written)
        self.written.update([candidate.template] if candidate is not None else [])
        return candidate


def oracle_key(oracle: Oracle) -> str:
    """Return the hash that is the same for tasks with the same oracle, whatever their prompts."""
    return content_hash(oracle)[:24]


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
) -> SynthesisResult:
    """Return up to `n` trusted tasks for an environment.

    Args:
        seed: everything follows from it; the same inputs and seed give the same tasks.
        n: how many tasks are wanted. Fewer come back if the candidates run out.
        kinds: which kinds to write, in turn: graph (chains), program, long (programs of at least 7 calls).
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
    with Bench(image, worker) as bench:
        attacker = Attacker(bench, writer.atlas, signatures, database.env_id)
        judge = _Judge(bench, writer.atlas, signatures, database.env_id, min_calls, max_calls, attacker)
        lost: list[tuple[AgentTask, str]] = []
        while lost or not index:
            while len(tasks) < n and index < limit:
                rng = random.Random(f"{database.env_id}/{seed}/{index}")
                candidate = writer.write(kinds[index % len(kinds)], rng, tuple(skills or ()), lengths)
                key = candidate.key if candidate is not None else f"{seed}/{index}"
                gate, reason, task = judge.judge(candidate, rng, seen, skills)
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
    return SynthesisResult(tuple(tasks), tuple(rejections), stats, tuple(attacker.survivors))


def fitting_kinds(atlas: Atlas, kinds: Sequence[Kind], skills: Sequence[str] | None) -> Sequence[Kind]:
    """Return the kinds of task that can exercise the skills: chains exercise kinds of tools, programs constructs."""
    chained = {tool.kind for tool in atlas.tools.values()} - {"document"}
    if not skills or chained & set(skills) or not {"program", "long"} & set(kinds):
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


@dataclass
class _Judge:
    """Sends candidates through the gates, the cheap ones first, and what is left to the attacker."""

    bench: Bench
    atlas: Atlas
    signatures: tuple[ToolSignature, ...]
    env_id: str
    min_calls: int
    max_calls: int
    attacker: Attacker

    def judge(
        self, candidate: Candidate | None, rng: random.Random, seen: Collection[str], skills: Sequence[str] | None
    ) -> tuple[str, str, AgentTask | None]:
        """Return (gate, reason, None) for a rejected candidate, ("", "", task) for an accepted one."""
        if candidate is None:
            return "unbound", "the walk or the families found nothing to bind", None
        if skills and not set(skills) & set(candidate.skills):
            return "off_target", f"exercises {candidate.skills}, wanted is one of {tuple(skills)}", None
        if oracle_key(candidate.oracle) in seen:
            return "duplicate", "a task with the same oracle is there already", None
        run = self.bench.execute(candidate.oracle, user=candidate.user)
        checks = (
            ("executes", lambda: gates.executes(candidate, run)),
            ("length", lambda: gates.length(candidate, run, *(candidate.bounds or (self.min_calls, self.max_calls)))),
            ("ambiguous", lambda: gates.independent(candidate, run, "ambiguous")),
            ("independent", lambda: gates.independent(candidate, run)),
            ("matters", lambda: gates.matters(candidate, run, self.atlas)),
            ("grounded", lambda: gates.grounded(candidate, run, self.atlas)),
            ("leak", lambda: gates.leak(candidate, run, self.atlas)),
            ("deterministic", lambda: self.bench.disagreement(candidate.oracle, run, user=candidate.user)),
        )
        for gate, check in checks:
            if reason := check():
                return gate, reason, None
        verifier = Verifier(
            answer=candidate.fields, expected_answer=dict(run.answer or {}), expected_changes=run.changes
        )
        other = self.bench.execute(candidate.oracle, 1, candidate.user)
        if not verify(verifier, other.answer, other.changes).success:
            return "oracle_reward", "the oracle itself does not get full reward in an episode of another seed", None
        guessed = [self.bench.execute(candidate.oracle, 0, user) for user in candidate.guesses]
        right = sum(verify(verifier, guess.answer, guess.changes).success for guess in guessed)
        if right * 2 > len(guessed):
            return "user_needed", f"{right} of {len(guessed)} guesses at what the user keeps back are right", None
        task = make_task(candidate, run, verifier, self.env_id, tuple(s.name for s in self.signatures))
        gate, reason, task = self.attacker.attack(task, run, rng)
        if task is None or "long" not in task.classes or task.length >= LONG:
            return gate, reason, task
        if candidate.bounds is not None:
            return "shortened", f"meant to be long, but {task.length} calls do", None
        return "", "", task.model_copy(update={"classes": tuple(c for c in task.classes if c != "long")})


def make_task(candidate: Candidate, run: Run, verifier: Verifier, env_id: str, tools: tuple[str, ...]) -> AgentTask:
    """Return the task of an executed candidate, offering some of `tools`; difficulty and kill rate are still open."""
    task_id = "task-" + content_hash([env_id, candidate.oracle, candidate.prompt])[:16]
    tools = tuple(name for name in tools if name not in candidate.withheld)
    return AgentTask(
        task_id=task_id,
        env_id=env_id,
        kind=candidate.kind,
        prompt=candidate.prompt,
        tools=offered_tools(candidate.oracle, run.tool_steps, tools, random.Random(task_id)),
        oracle=candidate.oracle,
        oracle_calls=len(run.steps),
        expected_answer=dict(run.answer or {}),
        verifier=verifier,
        template=candidate.template,
        skills=candidate.skills,
        writes=bool(run.changes),
        classes=(*(("long",) if len(run.steps) >= LONG else ()), *candidate.classes),
        user=candidate.user,
        seed=candidate.seed,
    )
