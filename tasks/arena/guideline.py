"""What to generate for a weak environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.environment import Environment
from schemas.episode import ErrorType
from schemas.task import AgentTask

MIN_CHAINS = 6
MIN_TABLES = 3
MIN_ROWS_PER_TABLE = 30
JOIN_SHARE = 0.5
JOIN_SKILLS = frozenset({"join", "document"})
WEAK_SKILLS = 3

ERROR_PHRASES: dict[ErrorType, str] = {
    "wrong_tool": "calls other tools than the task needs",
    "wrong_argument": "calls the right tools with the wrong arguments",
    "missing_state_update": "leaves the state without the change that was asked for",
    "extra_state_update": "changes more than was asked for",
    "premature_stop": "answers before it has made all the calls",
    "wrong_aggregation": "computes counts and sums wrongly",
    "wrong_answer": "answers another value than the one it has seen",
    "format": "answers in another form than the one asked for",
    "step_limit": "runs out of calls before it answers",
}


@dataclass(frozen=True)
class Weakness:
    """The evidence on one environment that a guideline is written from; `failed` holds a task once a failure."""

    environment: Environment
    tasks: Sequence[AgentTask]
    failed: Sequence[AgentTask]
    errors: Mapping[str, int]
    skill_rates: Mapping[str, float]
    skill_attempts: Mapping[str, int]
    kind_rates: Mapping[str, float]


def needs_data(weakness: Weakness) -> list[str]:
    """Return the reasons why more connected data is needed; an empty list says that targeted tasks suffice.

    Any of these is a reason:
    - the environment carried fewer than MIN_CHAINS distinct tool chains (the templates of its tasks, or the sequence
      of the oracle's tools), so that more tasks on it would repeat themselves;
    - it has fewer than MIN_TABLES tables, so that there is little to cross;
    - at least JOIN_SHARE of its failures are on tasks that cross tables or read documents, and its tables hold fewer
      than MIN_ROWS_PER_TABLE rows on average: new data would give such tasks other rows to find.
    """
    reasons = []
    chains = {chain_of(task) for task in weakness.tasks}
    if len(chains) < MIN_CHAINS:
        reasons.append(f"only {_count(len(chains), 'distinct tool chain')} could be measured (fewer than {MIN_CHAINS})")
    tables = weakness.environment.n_tables
    if tables < MIN_TABLES:
        reasons.append(f"only {_count(tables, 'table')} to cross (fewer than {MIN_TABLES})")
    rows = weakness.environment.n_rows / max(1, tables)
    crossing = sum(bool(JOIN_SKILLS & set(task.skills)) for task in weakness.failed)
    if weakness.failed and crossing / len(weakness.failed) >= JOIN_SHARE and rows < MIN_ROWS_PER_TABLE:
        reasons.append(
            f"{crossing} of {_count(len(weakness.failed), 'failure')} cross tables that hold {rows:.0f} rows on average"
            f" (fewer than {MIN_ROWS_PER_TABLE})"
        )
    return reasons


def chain_of(task: AgentTask) -> tuple[str, ...]:
    """Return what makes a task's chain distinct: its template and the tools of its oracle in order."""
    return (task.template, *(call.tool for call in task.oracle.calls))


def weak_skills(weakness: Weakness, attempts: int) -> list[str]:
    """Return up to WEAK_SKILLS skills that fail more often than the environment does as a whole, the worst first.

    Skills are ordered by their failures beyond those expected at the environment's own failure rate, so that neither
    a rare skill nor one that every task needs comes first by chance. If none stands out, those with most failures.
    """
    overall = len(weakness.failed) / max(1, attempts)
    failures = {
        skill: round((1 - rate) * weakness.skill_attempts[skill]) for skill, rate in weakness.skill_rates.items()
    }
    beyond = {skill: n - overall * weakness.skill_attempts[skill] for skill, n in failures.items() if n}
    standing_out = {skill: n for skill, n in beyond.items() if n > 0.5}
    score = standing_out or {skill: float(failures[skill]) for skill in beyond}
    return sorted(score, key=lambda s: (-score[s], weakness.skill_rates[s], s))[:WEAK_SKILLS]


def write_guideline(weakness: Weakness, attempts: int, n_tasks: int) -> dict[str, Any]:
    """Return {skills, kinds, needs_data, n_tasks, error_types, reasons} for one weak environment.

    `kinds` are the task kinds whose success is not above the environment's mean of kinds, the weakest first.
    """
    skills = weak_skills(weakness, attempts)
    mean = sum(weakness.kind_rates.values()) / max(1, len(weakness.kind_rates))
    kinds = sorted((k for k, rate in weakness.kind_rates.items() if rate <= mean), key=weakness.kind_rates.__getitem__)
    data = needs_data(weakness)
    reasons = [f"{_percent(weakness.skill_rates[skill])} success where {_words(skill)} is needed" for skill in skills]
    return {
        "skills": skills,
        "kinds": kinds,
        "needs_data": bool(data),
        "n_tasks": n_tasks,
        "error_types": sorted(weakness.errors, key=lambda e: (-weakness.errors[e], e))[:WEAK_SKILLS],
        "reasons": reasons + data,
    }


def describe(weakness: Weakness, attempts: int) -> str:
    """Return one sentence for people on where and how the policy fails."""
    failures = sum(weakness.errors.values())
    ranked = sorted(weakness.errors, key=lambda e: (-weakness.errors[e], e))
    how = [f"{ERROR_PHRASES[error]} ({weakness.errors[error]})" for error in ranked[:2]]  # type: ignore[index]
    skills = [_words(skill) for skill in weak_skills(weakness, attempts)[:2]]
    where = f", most often where {' or '.join(skills)} is needed" if skills else ""
    return (
        f"In {weakness.environment.name} the policy fails {failures} of {_count(attempts, 'attempt')}:"
        f" it {' and '.join(how)}{where}."
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _words(name: str) -> str:
    return name.replace("_", " ")
