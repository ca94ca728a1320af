"""Which charts the page has, from the data that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.episode import TrainingRun
from schemas.statistics import Grouping
from tasks.report.data import ReportData
from tasks.report.figures import axis_end, curves, histogram, integer_bins, intervals, loop, taxonomy, unit_bins
from tasks.report.figures.curves import Curve
from tasks.report.svg import Figure
from tasks.report.views.arena import arm_classes, grouped
from tasks.report.views.overview import stages

KIND_CLASSES = {"graph": "series-1", "program": "series-2"}
ARM_LABELS = {"rl": "", "sft_control": "beside RL"}
LINES = 6
Captioned = tuple[str, Figure]


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
        arm = ARM_LABELS.get(run.arm, run.arm.replace("_", " "))
        name = f"{run.method.upper()} {arm}".strip()
        seen[name] = seen.get(name, 0) + 1
        labels[run.run_id] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return labels


def run_classes(runs: Sequence[TrainingRun]) -> dict[str, str]:
    """Return label -> colour class, one of LINES in turn, the same in every chart."""
    return {label: f"series-{i % LINES + 1}" for i, label in enumerate(run_labels(runs).values())}


def training_charts(runs: Sequence[TrainingRun]) -> list[Captioned]:
    """Return one chart a measure that any run logged, loss first; losses of two methods do not share a chart."""
    labels, classes = run_labels(runs), run_classes(runs)
    measured: dict[tuple[str, str], dict[str, Curve]] = {}
    for run in runs:
        for measure, values in run.curves.items():
            if measure == "step" or not values:
                continue
            steps = run.curves.get("step") or []
            steps = steps if len(steps) == len(values) else [float(i + 1) for i in range(len(values))]
            method = run.method.upper() if measure == "loss" else ""
            measured.setdefault((measure, method), {})[labels[run.run_id]] = (steps, values)
    found = []
    for measure, method in sorted(measured, key=_measure_order):
        name = f"{method} {measure.replace('_', ' ')}".strip()
        chart = curves(f"{name} over training steps", measured[measure, method], classes)
        found.append((name[0].upper() + name[1:], chart))
    return found


def _measure_order(key: tuple[str, str]) -> tuple[int, str, str]:
    """Sort SFT's loss, reward, entropy and success first, GRPO's loss (near zero by design) after them."""
    measure, method = key
    known = [("loss", "SFT"), ("reward", ""), ("entropy", ""), ("success", ""), ("loss", "GRPO")]
    return known.index(key) if key in known else len(known), measure, method


def _task_charts(data: ReportData) -> list[Captioned]:
    kinds: list[str] = sorted({t.kind for t in data.tasks})
    lengths = {k: [t.oracle_calls for t in data.tasks if t.kind == k] for k in kinds}
    everything = [n for values in lengths.values() for n in values]
    bins = integer_bins(everything)
    found = [("Length", histogram("Task length by kind", lengths, bins, "tool calls of the oracle", KIND_CLASSES))]
    for name, caption, axis in (
        ("difficulty", "Difficulty", "1 − mean pass rate of the solvers"),
        ("kill_rate", "Kill rate", "share of wrong episodes refused"),
    ):
        series = {k: [v for t in data.tasks if t.kind == k and (v := getattr(t, name)) is not None] for k in kinds}
        if any(series.values()):
            bins = unit_bins(min(v for values in series.values() for v in values))
            found.append((caption, histogram(f"{caption} of tasks by kind", series, bins, axis, KIND_CLASSES)))
    return found


def _arena_charts(data: ReportData) -> list[Captioned]:
    """Return two charts on one scale: the whole with its splits, kinds, lengths and classes, and the categories."""
    classes = arm_classes(sorted({r.arm for r in data.rates}))
    wide: tuple[Grouping, ...] = ("overall", "split", "kind", "length", "class")
    end = axis_end(r for r in data.rates if r.by in (*wide, "category"))
    found = []
    for caption, groupings in (("By split, kind, length and class", wide), ("By category", ("category",))):
        groups = [group for by in groupings for group in grouped(data, by)]
        if groups:
            found.append((caption, intervals(f"Success {caption.lower()}", groups, classes, end)))
    return found
