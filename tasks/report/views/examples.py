"""Tasks and episodes in a form that people can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.episode import Diagnosis, Trajectory
from schemas.task import AgentTask, Change
from tasks.report.data import ReportData
from tasks.report.views.arena import arm_order

GALLERY = 6
LONGEST_VALUE = 260


@dataclass(frozen=True)
class Line:
    """One call for people: number, tool, arguments as (name, value) and what came back ('' for an oracle)."""

    number: int
    tool: str
    arguments: tuple[tuple[str, str], ...]
    observation: str = ""
    refused: bool = False


@dataclass(frozen=True)
class Example:
    """A task of the gallery; `passes` are (who, share passed, attempts or '')."""

    task: AgentTask
    environment: str
    calls: tuple[Line, ...]
    answer: tuple[tuple[str, str], ...]
    changes: tuple[str, ...]
    passes: tuple[tuple[str, float, str], ...]


@dataclass(frozen=True)
class Episode:
    """An episode for people, beside what its task expected."""

    trajectory: Trajectory
    prompt: str
    steps: tuple[Line, ...]
    answer: tuple[tuple[str, str], ...]
    expected: tuple[tuple[str, str], ...]
    failed_checks: tuple[str, ...]
    error_type: str


@dataclass(frozen=True)
class Card:
    """A diagnosis with the example episodes that are at hand."""

    diagnosis: Diagnosis
    environment: str
    skills: tuple[tuple[str, float], ...]
    errors: tuple[tuple[str, int], ...]
    episodes: tuple[Episode, ...]


def gallery(data: ReportData) -> list[Example]:
    """Return six tasks: both kinds alternating, from easy to hard, environments as different as possible."""
    names = {e.env_id: e.name for e in data.environments}
    by_kind: dict[str, list[AgentTask]] = {}
    for task in data.tasks:
        by_kind.setdefault(task.kind, []).append(task)
    chosen: list[AgentTask] = []
    for kind, tasks in sorted(by_kind.items()):
        others = sum(len(v) for k, v in by_kind.items() if k != kind)
        chosen.extend(_spread(tasks, max(GALLERY - others, GALLERY // len(by_kind)), {t.env_id for t in chosen}))
    chosen = sorted(chosen[:GALLERY], key=lambda t: (t.difficulty or 0.0, t.oracle_calls, t.task_id))
    return [_example(task, names.get(task.env_id, task.env_id), data) for task in chosen]


def cards(data: ReportData) -> list[Card]:
    """Return the diagnoses by round and rank, each with its example episodes."""
    names = {e.env_id: e.name for e in data.environments}
    tasks = {t.task_id: t for t in data.tasks}
    episodes = {t.episode_id: t for t in data.trajectories}
    errors = {(r.task_id, r.policy_id): r.error_type for r in data.results if r.error_type}
    found = []
    for diagnosis in sorted(data.diagnoses, key=lambda d: (d.round, d.rank)):
        shown = [
            _episode(episodes[i], tasks.get(episodes[i].task_id), errors) for i in diagnosis.examples if i in episodes
        ]
        skills = sorted(((s.replace("_", " "), r) for s, r in diagnosis.skill_rates.items()), key=lambda item: item[1])
        counts = sorted(
            ((e.replace("_", " "), n) for e, n in diagnosis.error_counts.items()), key=lambda item: -item[1]
        )
        name = names.get(diagnosis.env_id, diagnosis.env_id)
        found.append(Card(diagnosis, name, tuple(skills), tuple(counts), tuple(shown)))
    return found


def readable(value: Any, longest: int = LONGEST_VALUE) -> str:
    """Return a JSON value as one line of text, cut at `longest` characters; a reference as the place it points to."""
    if isinstance(value, dict) and value.keys() == {"$ref"}:
        step, _, path = str(value["$ref"]).partition(".")
        number = str(int(step) + 1) if step.isdigit() else step
        return f"← {path or 'result'} of call {number}"
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def pairs(values: dict[str, Any] | None) -> tuple[tuple[str, str], ...]:
    """Return a mapping as readable (name, value) pairs."""
    return tuple((name, readable(value)) for name, value in (values or {}).items())


def change_line(change: Change) -> str:
    """Return one expected change of the state as a sentence."""
    if change.operation == "insert":
        return f"{change.table}: a new row with {_assignments(change.after or {})}"
    if change.operation == "delete":
        return f"{change.table} {change.key}: removed"
    before, after = change.before or {}, change.after or {}
    changed = {name: value for name, value in after.items() if before.get(name) != value}
    return f"{change.table} {change.key}: {_assignments(changed)}"


def _assignments(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {readable(value, 60)}" for name, value in values.items())


def _spread(tasks: Sequence[AgentTask], count: int, used: set[str]) -> list[AgentTask]:
    """Choose tasks evenly over the order of difficulty, at each place preferring an environment not yet shown."""
    order = sorted(tasks, key=lambda t: (t.difficulty or 0.0, t.oracle_calls, t.task_id))
    used, chosen = set(used), []
    size = len(order) / max(1, min(count, len(order)))
    for i in range(min(count, len(order))):
        window = order[int(i * size) : max(int(i * size) + 1, int((i + 1) * size))]
        task = next((t for t in window if t.env_id not in used), window[0])
        used.add(task.env_id)
        chosen.append(task)
    return chosen


def _example(task: AgentTask, environment: str, data: ReportData) -> Example:
    solvers = [(f"solver {name}", rate, "") for name, rate in sorted(task.pass_rates.items())]
    arms: dict[str, list[bool]] = {}
    for result in data.results:
        if result.task_id == task.task_id and result.purpose == "arena":
            arms.setdefault(result.arm, []).append(result.success)
    measured = [
        (f"policy {arm}", sum(won) / len(won), f"{sum(won)} of {len(won)}")
        for arm, won in sorted(arms.items(), key=lambda item: arm_order(item[0]))
    ]
    calls = tuple(Line(i, c.tool, pairs(c.arguments)) for i, c in enumerate(task.oracle.calls, start=1))
    changes = tuple(change_line(c) for c in task.verifier.expected_changes)
    return Example(task, environment, calls, pairs(task.expected_answer), changes, tuple(solvers + measured))


def _episode(trajectory: Trajectory, task: AgentTask | None, errors: dict[tuple[str, str], str]) -> Episode:
    steps = tuple(
        Line(i, s.tool, pairs(s.arguments), readable(s.observation), "error" in s.observation)
        for i, s in enumerate(trajectory.steps, start=1)
    )
    failed = tuple(name.replace("_", " ") for name, held in trajectory.checks.items() if not held)
    kind = errors.get((trajectory.task_id, trajectory.policy_id), trajectory.error)
    return Episode(
        trajectory, task.prompt if task else "", steps, pairs(trajectory.answer),
        pairs(task.expected_answer) if task else (), failed, kind.replace("_", " "),
    )  # fmt: skip
