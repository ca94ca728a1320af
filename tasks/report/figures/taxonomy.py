"""The taxonomy as an icicle: level 1, 2 and 3 side by side, each as tall as its share of the themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from tasks.report.svg import Figure, drawing, element, fit, text

WIDTH = 1120
ROW = 24
TOP = 26
LEVELS = ("Level 1", "Level 2", "Level 3")
MOST_LEAVES = 60
UNPLACED = "not placed"


@dataclass
class _Node:
    """A category with the leaves below it."""

    name: str
    count: int = 0
    children: dict[str, _Node] = field(default_factory=dict)

    def rows(self, depth: int) -> int:
        """Return how many rows it takes when drawn `depth` levels further down."""
        if depth == 0 or not self.children:
            return 1
        return sum(child.rows(depth - 1) for child in self.children.values())


def taxonomy(paths: Iterable[Sequence[str]]) -> Figure:
    """Draw themes by their category path (level 1, 2, 3), one path a theme.

    A tree with more than MOST_LEAVES leaves is cut to fewer levels, so that every label stays readable; the table
    behind the chart always has all three.
    """
    places = [tuple(part or UNPLACED for part in path) for path in paths]
    root = _tree(places)
    depth = next((d for d in (3, 2, 1) if root.rows(d) <= MOST_LEAVES), 1)
    width = WIDTH / depth
    parts: list[Markup] = [text(level * width + 2, 14, LEVELS[level], "tick") for level in range(depth)]
    parts.extend(_draw(root, 0, TOP, depth, width))
    counts: dict[tuple[str, ...], int] = {}
    for path in places:
        counts[path] = counts.get(path, 0) + 1
    rows = tuple((*path, str(n)) for path, n in sorted(counts.items(), key=lambda item: item[0]))
    height = TOP + ROW * root.rows(depth) + 4
    title = f"{len(places)} themes in {len(root.children)} level-1 categories"
    return Figure(drawing(WIDTH, height, title, *parts), (*LEVELS, "themes"), rows)


def _tree(paths: Iterable[tuple[str, ...]]) -> _Node:
    root = _Node("")
    for path in paths:
        node = root
        node.count += 1
        for part in path:
            node = node.children.setdefault(part, _Node(part))
            node.count += 1
    return root


def _draw(node: _Node, level: int, top: float, depth: int, width: float) -> list[Markup]:
    parts: list[Markup] = []
    if level == depth:
        return parts
    for child in sorted(node.children.values(), key=lambda c: (-c.count, c.name)):
        height = ROW * child.rows(depth - level - 1)
        x = level * width
        parts.append(
            element(
                "g",
                element("title", f"{child.name}: {child.count}"),
                element(
                    "rect", x=x + 1, y=top + 1, width=width - 2, height=height - 2, rx=4, class_=f"level-{level + 1}"
                ),
                text(x + 11, top + height / 2 + 4.5, fit(child.name, width - 60, 12.5), "label"),
                text(x + width - 12, top + height / 2 + 4.5, child.count, "tick", "end"),
            )
        )
        parts.extend(_draw(child, level + 1, top, depth, width))
        top += height
    return parts
