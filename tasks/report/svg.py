"""Static SVG, every text and attribute escaped; colours are CSS classes, so that one drawing serves light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

CHARACTER_WIDTH = 0.56
"""Mean width of a character of the page's sans-serif font, in units of its size."""


@dataclass(frozen=True)
class Figure:
    """A chart and the table behind it: columns and rows of texts."""

    svg: Markup
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Return one SVG element. Attribute names lose a final underscore, others become hyphens; None is left out."""
    pairs = (
        (key.rstrip("_").replace("_", "-") if key != "viewBox" else key, value)
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup(" ").join(Markup('{}="{}"').format(Markup(key), _number(value)) for key, value in pairs)
    body = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}{2}>{3}</{0}>").format(Markup(name), Markup(" " if inside else ""), inside, body)


def drawing(width: float, height: float, title: str, *children: object, description: str = "") -> Markup:
    """Return an `svg` element that scales with the page, named for screen readers by its title."""
    return element(
        "svg",
        element("title", title),
        *([element("desc", description)] if description else []),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=title,
        style=f"max-width:{width:g}px",
        xmlns="http://www.w3.org/2000/svg",
    )


def text(x: float, y: float, content: object, class_: str = "", anchor: str | None = None) -> Markup:
    """Return a text element; `anchor` is start, middle or end."""
    return element("text", content, x=x, y=y, class_=class_ or None, text_anchor=anchor)


def fit(content: str, width: float, size: float = 12) -> str:
    """Cut a text with an ellipsis so that it fits into `width` at font size `size`, by mean character width."""
    most = int(width / (size * CHARACTER_WIDTH))
    if len(content) <= most:
        return content
    return content[: max(1, most - 1)].rstrip() + "…" if most >= 2 else ""


def text_width(content: str, size: float = 12) -> float:
    """Return about how wide a text is at font size `size`."""
    return len(content) * size * CHARACTER_WIDTH


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round tick values that cover [low, high], with steps of 1, 2 or 5 times a power of ten."""
    if not math.isfinite(low) or not math.isfinite(high):
        raise ValueError(f"no axis from {low} to {high}")
    if high <= low:
        high = low + 1
    raw = (high - low) / about
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(_snapped(low / step)), math.ceil(_snapped(high / step))
    return [round(i * step, 10) for i in range(first, last + 1)]


def _snapped(steps: float) -> float:
    """Return a count of steps, whole if it misses that only by rounding: 0.3 / 0.1 is 3."""
    whole = round(steps)
    return float(whole) if math.isclose(steps, whole, rel_tol=1e-12, abs_tol=1e-12) else steps


def polyline(points: Sequence[tuple[float, float]], class_: str) -> Markup:
    """Return an open line through points."""
    return element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), class_=class_)


def _number(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
