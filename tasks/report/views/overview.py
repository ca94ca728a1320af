"""The headline figures and the counts on the loop."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from schemas.statistics import SuccessRate
from tasks.report.data import ReportData
from tasks.report.figures import Stage, percent
from tasks.report.views.arena import arm_order, latest_overall
from tasks.report.views.yields import yields

QUICK_NOTE = (
    "Quick scale: this run shows that the loop works. Training and arena are far too small for its success rates, "
    "differences and diagnoses to mean anything; run without --quick for figures."
)
"""What page and summary of a quick run say before anything else."""


@dataclass(frozen=True)
class Tile:
    """One headline figure; `arm` names the colour of an arm, if it belongs to one."""

    label: str
    value: str
    detail: str = ""
    arm: str = ""


def tiles(data: ReportData) -> list[Tile]:
    """Return the headline figures: what was made, how good the tasks are, and success by arm with its interval."""
    accepted = [e for e in data.environments if e.state == "accepted"]
    categories = len({t.category_l1 for t in data.themes if t.category_l1})
    found = [
        Tile("Themes", f"{len(data.themes):,}", plural(categories, "category", "categories") if categories else ""),
        Tile(
            "Environments",
            f"{len(accepted):,}",
            f"{sum(e.n_tables for e in accepted):,} tables, {sum(e.n_rows for e in accepted):,} rows",
        ),
        Tile("Tools", f"{len(data.tools):,}", _per(len(data.tools), len(accepted), "an environment")),
        Tile("Tasks", f"{len(data.tasks):,}", _task_detail(data)),
    ]
    for rate in latest_overall(data):
        interval = f"{percent(rate.low)} to {percent(rate.high)}, n = {rate.attempts:,}"
        found.append(Tile(f"Success {rate.arm.replace('_', ' ')}", percent(rate.rate), interval, rate.arm))
    rates = [t.kill_rate for t in data.tasks if t.kill_rate is not None]
    if rates:
        mutants = sum(t.mutants for t in data.tasks)
        found.append(
            Tile(
                "Mutants refused",
                percent(sum(rates) / len(rates)),
                f"{mutants:,} wrong episodes tried on the verifiers",
            )
        )
    if data.costs:
        peak = max(c.peak_rss_mb for c in data.costs)
        found.append(Tile("Wall time", duration(sum(c.wall_s for c in data.costs)), f"peak memory {memory(peak)}"))
    return found


def stages(data: ReportData) -> list[Stage]:
    """Return the eight boxes of the loop with what each made."""
    accepted = [e for e in data.environments if e.state == "accepted"]
    kept = {y.stage: f"{100 * y.share:.0f} % kept" for y in yields(data) if y.share is not None}
    arms = Counter(t.arm for t in data.tasks if t.arm)
    arena_tasks = {r.task_id for r in data.results if r.purpose == "arena"}
    failures = sum(d.failures for d in data.diagnoses)
    steps = sum(r.steps for r in data.training_runs)
    kinds = len({t.kind for t in data.themes})
    made = f"{sum(e.n_tables for e in accepted):,} tables, {sum(e.n_rows for e in accepted):,} rows"
    return [
        Stage("Themes", f"{len(data.themes):,}", f"from {plural(kinds, 'kind')} of source", kept.get("mining", "")),
        Stage("Environments", f"{len(accepted):,}", made, kept.get("coding", "")),
        Stage("Tools", f"{len(data.tools):,}", f"{sum(t.tests_passed for t in data.tools):,} unit tests passed",
              kept.get("synthesis", "")),
        Stage("Tasks", f"{len(data.tasks):,}", _kinds(Counter(t.kind for t in data.tasks)), _training_share(data)),
        Stage("Training", plural(len(data.training_runs), "run"), f"{steps:,} steps" if steps else "did not run"),
        Stage("Arena", _arena_count(latest_overall(data)),
              plural(len(arena_tasks), "fresh task") if arena_tasks else "did not run",
              plural(failures, "failure") if failures else ""),
        Stage("Diagnosis", f"{len(data.diagnoses):,} weak", _main_error(data),
              plural(len(data.diagnoses), "guideline") if data.diagnoses else ""),
        Stage("Regeneration", plural(arms["directed"], "task"),
              f"directed; {arms['control']:,} as control" if arms else "did not run", _rounds(data)),
    ]  # fmt: skip


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def duration(seconds: float) -> str:
    """Return seconds as a text for people: 0.8 s, 42 s, 3 min 5 s, 2 h 4 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def memory(mebibytes: float) -> str:
    """Return MiB as a text for people."""
    return f"{mebibytes / 1024:.1f} GiB" if mebibytes >= 1024 else f"{mebibytes:.0f} MiB"


def _per(number: int, of: int, unit: str) -> str:
    return f"{number / of:.1f} {unit}" if of else ""


def _task_detail(data: ReportData) -> str:
    if not data.tasks:
        return ""
    return f"{sum(t.oracle_calls for t in data.tasks) / len(data.tasks):.1f} calls on average"


def _kinds(counts: Counter[str]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _main_error(data: ReportData) -> str:
    counts = Counter[str]()
    for diagnosis in data.diagnoses:
        counts.update(diagnosis.error_counts)
    return f"mostly {counts.most_common(1)[0][0].replace('_', ' ')}" if counts else "nothing to diagnose"


def _training_share(data: ReportData) -> str:
    trained = sum(t.split in ("train", "rl") for t in data.tasks)
    return f"{trained:,} to train on" if trained else ""


def _arena_count(rates: list[SuccessRate]) -> str:
    named = {r.arm: r for r in rates}
    shown = [named[arm] for arm in ("before", "directed") if arm in named] or rates[:1]
    return " → ".join(f"{100 * r.rate:.0f} %" for r in sorted(shown, key=lambda r: arm_order(r.arm))) or "–"


def _rounds(data: ReportData) -> str:
    rounds = {d.round for d in data.diagnoses}
    return f"round {max(rounds) + 1}: more connected data, targeted tasks" if rounds else "next round"
