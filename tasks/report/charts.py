"""Which charts the page has, from the data that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.episode import TrainingRun
from tasks.report.data import ReportData
from tasks.report.figures import curves, histogram, integer_bins, intervals, loop, taxonomy, unit_bins
from tasks.report.svg import Figure
from tasks.report.views.arena import arm_classes, grouped
from tasks.report.views.overview import stages

KIND_CLASSES = {"graph": "series-1", "program": "series-2"}
LINES = 6
Captioned = tuple[str, Figure]
FIRST_MEASURES = ("loss", "reward", "entropy", "success")


@dataclass(frozen=True)
class Charts:
    """All charts of the page; a list holds (caption, figure), and is empty without data."""

    loop: Figure
    taxonomy: Figure | None
    tasks: list[Captioned]
    training: list[Captioned]
    training_legend: dict[str, str]
    arena: list[Captioned]


def charts(data: ReportData) -> Charts:
    """Draw every chart that the data suffices for."""
    paths = [(t.category_l1, t.category_l2, t.category_l3) for t in data.themes]
    return Charts(
        loop=loop(stages(data)),
        taxonomy=taxonomy(paths) if paths else None,
        tasks=_task_charts(data) if data.tasks else [],
        training=training_charts(data.training_runs),
        training_legend=run_classes(data.training_runs),
        arena=_arena_charts(data),
    )


def run_labels(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """Return run_id -> a short name that is unique on the page: method and arm, numbered where it repeats."""
    labels: dict[str, str] = {}
    seen: dict[str, int] = {}
    for run in runs:
        name = f"{run.method.upper()} {run.arm.replace('_', ' ')}".strip()
        seen[name] = seen.get(name, 0) + 1
        labels[run.run_id] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return labels


def run_classes(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """Return label -> colour class, one of LINES in turn, the same in every chart."""
    return {label: f"series-{i % LINES + 1}" for i, label in enumerate(run_labels(runs).values())}


def training_charts(runs: Sequence[TrainingRun]) -> list[Captioned]:
    """Return one chart a measure that any run logged: loss, reward and entropy first."""
    labels, classes = run_labels(runs), run_classes(runs)
    logged = {measure for run in runs for measure, values in run.curves.items() if values} - {"step"}
    order = [m for m in FIRST_MEASURES if m in logged] + sorted(logged - set(FIRST_MEASURES))
    found = []
    for measure in order:
        series = {}
        for run in runs:
            values = run.curves.get(measure) or []
            if values:
                steps = run.curves.get("step") or []
                steps = steps if len(steps) == len(values) else [float(i + 1) for i in range(len(values))]
                series[labels[run.run_id]] = (steps, values)
        name = measure.replace("_", " ")
        found.append((name.capitalize(), curves(f"{name} over training steps", series, classes)))
    return found


def _task_charts(data: ReportData) -> list[Captioned]:
    kinds = sorted({t.kind for t in data.tasks})
    lengths = {k: [t.oracle_calls for t in data.tasks if t.kind == k] for k in kinds}
    everything = [n for values in lengths.values() for n in values]
    found = [
        ("Length", histogram("Task length by kind", lengths, integer_bins(everything), "tool calls of the oracle", KIND_CLASSES))
    ]  # fmt: skip
    for name, caption, axis in (
        ("difficulty", "Difficulty", "1 − mean pass rate of the solvers"),
        ("kill_rate", "Kill rate", "share of wrong episodes refused"),
    ):
        series = {k: [v for t in data.tasks if t.kind == k and (v := getattr(t, name)) is not None] for k in kinds}
        if any(series.values()):
            found.append((caption, histogram(f"{caption} of tasks by kind", series, unit_bins(), axis, KIND_CLASSES)))
    return found


def _arena_charts(data: ReportData) -> list[Captioned]:
    classes = arm_classes(sorted({r.arm for r in data.rates}))
    found = []
    for by, caption in (
        ("overall", "All tasks"),
        ("split", "By environment split"),
        ("kind", "By task kind"),
        ("length", "By task length"),
        ("category", "By category"),
    ):
        groups = grouped(data, by)  # type: ignore[arg-type]
        if groups:
            found.append((caption, intervals(f"Success {caption.lower()}", groups, classes)))
    return found
