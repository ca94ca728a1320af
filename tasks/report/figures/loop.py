"""The closed loop as one picture: eight stages, what each made, and what passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tasks.report.svg import Figure, drawing, element, fit, text

WIDTH, HEIGHT = 1120, 336
NODE_WIDTH, NODE_HEIGHT = 216, 100
COLUMN = (WIDTH - NODE_WIDTH) / 3
ROWS = (12, 224)


@dataclass(frozen=True)
class Stage:
    """One box: its name, its main count, a line of detail, and the label of the arrow that leaves it."""

    name: str
    count: str
    detail: str
    passes: str = ""


def loop(stages: Sequence[Stage]) -> Figure:
    """Draw eight stages: four from left to right, four back below, and the return to the second (environments).

    Raises:
        ValueError: unless there are eight.
    """
    if len(stages) != 8:
        raise ValueError(f"the loop has eight stages, not {len(stages)}")
    places = [(i * COLUMN, ROWS[0]) for i in range(4)] + [(i * COLUMN, ROWS[1]) for i in (3, 2, 1, 0)]
    parts = [_arrowhead()]
    for i in range(7):
        parts.extend(_arrow(places[i], places[i + 1], stages[i].passes))
    parts.extend(_return(places[7], places[1], stages[7].passes))
    parts.extend(_box(place, stage) for place, stage in zip(places, stages, strict=True))
    title = "The loop: themes, environments, tools, tasks, training, arena, diagnosis, regeneration, and back"
    rows = tuple((s.name, s.count, s.detail, s.passes) for s in stages)
    return Figure(drawing(WIDTH, HEIGHT, title, *parts), ("stage", "count", "detail", "passes on"), rows)


def _box(place: tuple[float, float], stage: Stage) -> Markup:
    x, y = place
    return element(
        "g",
        element("title", f"{stage.name}: {stage.count}, {stage.detail}"),
        element("rect", x=x + 0.5, y=y + 0.5, width=NODE_WIDTH - 1, height=NODE_HEIGHT, rx=10, class_="box"),
        text(x + 16, y + 26, stage.name, "box-name"),
        text(x + 16, y + 58, stage.count, "box-count"),
        text(x + 16, y + 82, fit(stage.detail, NODE_WIDTH - 28, 12), "box-detail"),
    )


def _arrowhead() -> Markup:
    marks = [
        element("marker", element("path", d="M0,0 L8,4 L0,8 z", class_=f"head {kind}"), id=f"head-{kind}",
                markerWidth=8, markerHeight=8, refX=7, refY=4, orient="auto", markerUnits="userSpaceOnUse")
        for kind in ("forward", "back")
    ]  # fmt: skip
    return element("defs", *marks)


def _arrow(start: tuple[float, float], end: tuple[float, float], label: str) -> list[Markup]:
    if start[1] != end[1]:
        x = start[0] + NODE_WIDTH / 2
        path = f"M{x:g},{start[1] + NODE_HEIGHT + 1:g} L{x:g},{end[1] - 3:g}"
        mark = text(x - 10, (start[1] + NODE_HEIGHT + end[1]) / 2 + 4, label, "flow-label", "end")
    else:
        right = end[0] > start[0]
        y = start[1] + NODE_HEIGHT / 2
        from_x = start[0] + (NODE_WIDTH + 1 if right else -1)
        to_x = end[0] + (-3 if right else NODE_WIDTH + 3)
        path = f"M{from_x:g},{y:g} L{to_x:g},{y:g}"
        mark = text((from_x + to_x) / 2, y - 8, fit(label, abs(to_x - from_x), 11), "flow-label", "middle")
    return [element("path", d=path, class_="flow forward", marker_end="url(#head-forward)"), mark]


def _return(start: tuple[float, float], end: tuple[float, float], label: str) -> list[Markup]:
    """Draw the way back from the last box up to the environments, dashed."""
    x, to_x = start[0] + NODE_WIDTH / 2, end[0] + NODE_WIDTH / 2
    middle = (end[1] + NODE_HEIGHT + start[1]) / 2
    path = (
        f"M{x:g},{start[1] - 1:g} V{middle + 12:g} Q{x:g},{middle:g} {x + 12:g},{middle:g}"
        f" H{to_x - 12:g} Q{to_x:g},{middle:g} {to_x:g},{middle - 12:g} V{end[1] + NODE_HEIGHT + 4:g}"
    )
    mark = text((x + to_x) / 2, middle - 9, fit(label, to_x - x - 24, 11), "flow-label back", "middle")
    return [element("path", d=path, class_="flow back", marker_end="url(#head-back)"), mark]
