"""The table that a terminal shows at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.report.data import ReportData
from tasks.report.figures import percent, signed
from tasks.report.views.arena import comparisons
from tasks.report.views.funnel import ENOUGH, funnel_of
from tasks.report.views.overview import QUICK_NOTE, duration, memory, tiles
from tasks.report.views.yields import yields

if TYPE_CHECKING:
    from rich.table import Table


def summary_table(data: ReportData) -> Table:
    """Return the headline figures, yields, comparisons and costs as one table of three columns for `rich`.

    The title of a quick run's says that its figures mean nothing.
    """
    from rich.table import Table
    from rich.text import Text

    title = Text(f"Run {data.run_id}")
    if data.quick:
        title.append(f"\n{QUICK_NOTE}", style="bold red")
    table = Table(title=title, title_justify="left", show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", overflow="fold")

    def add(*cells: str) -> None:
        table.add_row(*(Text(cell) for cell in cells))  # Text, so that names with brackets are no markup

    for tile in tiles(data):
        add(tile.label, tile.value, tile.detail)
    table.add_section()
    for comparison in comparisons(data):
        if comparison.group == "all":
            add(
                f"{comparison.arm} − {comparison.baseline}",
                signed(comparison.difference),
                f"points, {signed(comparison.low)} to {signed(comparison.high)},"
                f" p = {comparison.p_value:.3f}, {comparison.tasks} shared tasks",
            )
    table.add_section()
    for stage in yields(data):
        if not stage.rejected:
            continue
        gates = ", ".join(f"{gate.name} {gate.count}" for gate in stage.gates[:4])
        more = f", {len(stage.gates) - 4} more" if len(stage.gates) > 4 else ""
        add(f"{stage.stage} refused", f"{stage.rejected:,}", gates + more)
    found = funnel_of(data)
    if found.cpu_ms is not None and found.enough_share is not None:
        detail = f"{found.enough} of {found.accepted_environments} environments give {ENOUGH} tasks or more"
        add("enough tasks", percent(found.enough_share, 0), f"{detail}, {found.cpu_ms:.0f} ms CPU a candidate")
    table.add_section()
    for cost in data.costs:
        add(
            cost.stage,
            duration(cost.wall_s),
            f"{duration(cost.cpu_s)} CPU, {memory(cost.peak_rss_mb)}, {cost.items:,} items",
        )
    return table
