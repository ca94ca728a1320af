"""What chat models cost: by role, by environment and by accepted task, and what the cache saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from schemas.models import ModelCall
from tasks.report.data import ReportData
from tasks.report.views.overview import plural


@dataclass(frozen=True)
class ModelRow:
    """Calls of one role or environment. Tokens and `usd` are of paid calls; `unpriced` of them have no known price."""

    name: str
    detail: str
    paid: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    saved_usd: float
    unpriced: int
    tasks: int = 0


@dataclass(frozen=True)
class ModelTable:
    """One table of the section; `by_task` says that its rows tell what an accepted task cost."""

    heading: str
    rows: tuple[ModelRow, ...]
    by_task: bool = False


@dataclass(frozen=True)
class ModelCosts:
    """The section: a sentence on the whole, and its tables."""

    sentence: str
    parts: tuple[ModelTable, ...]


def money(usd: float) -> str:
    """Return US dollars for people: cents, and more digits below one cent."""
    return f"${usd:,.2f}" if usd >= 0.01 or not usd else f"${usd:.6f}".rstrip("0")


def model_costs(data: ReportData) -> ModelCosts | None:
    """Return the section on models, or None if no model was called."""
    calls = data.model_calls
    if not calls:
        return None
    tasks = Counter(task.env_id for task in data.tasks)
    names = {e.env_id: e.name for e in data.environments}
    by_role = _rows(calls, lambda c: (f"{c.stage}: {c.role.replace('_', ' ')}", c.model))
    by_environment = _rows(calls, lambda c: (names.get(c.env_id, c.env_id or "no environment"), ""), tasks)
    return ModelCosts(
        _sentence(calls, len(data.tasks)),
        (ModelTable("Stage and role", by_role), ModelTable("Environment", by_environment, by_task=True)),
    )


def _rows(
    calls: Sequence[ModelCall], key: Callable[[ModelCall], tuple[str, str]], tasks: Counter[str] | None = None
) -> tuple[ModelRow, ...]:
    groups: dict[tuple[str, str], list[ModelCall]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    rows = []
    for (name, detail), found in groups.items():
        paid, cached = [c for c in found if not c.cached], [c for c in found if c.cached]
        rows.append(
            ModelRow(
                name=name, detail=detail, paid=len(paid), cached=len(cached),
                prompt_tokens=sum(c.prompt_tokens for c in paid),
                completion_tokens=sum(c.completion_tokens for c in paid),
                usd=_usd(paid), saved_usd=_usd(cached), unpriced=_unpriced(paid),
                tasks=sum((tasks or Counter())[env_id] for env_id in {c.env_id for c in found}),
            )
        )  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-row.usd, row.name, row.detail)))


def _usd(calls: Sequence[ModelCall]) -> float:
    return sum(call.price_usd or 0.0 for call in calls)


def _unpriced(calls: Sequence[ModelCall]) -> int:
    return sum(call.price_usd is None and call.outcome != "failed" for call in calls)


def _sentence(calls: Sequence[ModelCall], tasks: int) -> str:
    paid, cached = [c for c in calls if not c.cached], [c for c in calls if c.cached]
    sources = sorted({c.price_source for c in paid if c.price_usd is not None})
    told = f"{plural(len(paid), 'call')} paid, for {money(_usd(paid))}"
    if tasks:
        told += f" ({money(_usd(paid) / tasks)} an accepted task)"
    told += f"; {plural(len(cached), 'answer')} from the cache, which saved {money(_usd(cached))}."
    if sources:
        told += f" Prices: {', '.join(sources)}."
    if unpriced := _unpriced(paid):
        told += f" Not counted, for want of a known price: {plural(unpriced, 'call')}."
    return told
