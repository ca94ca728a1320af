"""Is it there? Cells of a saved table are looked for in the source, at the place that was recorded for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from schemas.base import Scalar

SAMPLED = 200
"""Cells of a table that are looked for; of a smaller one all are."""

_NUMBER = re.compile(r"[-+\u2212]?\d[\d,\u00a0\u202f' ]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_TRUTHS: dict[bool, set[str]] = {True: {"true", "yes", "y", "1", "✓"}, False: {"false", "no", "n", "0", "✗"}}


def missing_cells(
    rows: Sequence[dict[str, Scalar]], columns: Sequence[str], place: Callable[[int], str], seed: str
) -> list[tuple[int, str]]:
    """Return which (row, column) of a seeded sample of cells are not found.

    Args:
        rows: the rows as they were saved; a cell without a value is not looked for.
        columns: the columns to look at.
        place: the text of the source at the place recorded for a row.
        seed: decides which cells are sampled.
    """
    cells = [(n, name) for n, row in enumerate(rows) for name in columns if row.get(name) not in (None, "")]
    if len(cells) > SAMPLED:
        cells = sorted(Random(seed).sample(cells, SAMPLED))
    texts = {n: place(n) for n in {n for n, _ in cells}}
    return [(n, name) for n, name in cells if not stands_in(rows[n][name], texts[n])]


def stands_in(value: Scalar, text: str) -> bool:
    """Whether a text holds a value: as a whole word, as the same number however it is written, or as the same date."""
    if isinstance(value, bool):
        return bool(_TRUTHS[value] & set(re.findall(r"[\w✓✗]+", text.lower())))
    if isinstance(value, int | float):
        return any(abs(number - value) <= 1e-9 * max(1.0, abs(value)) for number in numbers_in(text))
    wanted, there = _flat(str(value)), _flat(text)
    found = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", there) if wanted else None
    if found is not None or not wanted:
        return True
    date = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)([T ].*)?", str(value).strip())
    if date:
        return _holds_date(there, int(date[1]), int(date[2]), int(date[3]))
    alone = re.fullmatch(r"[-+]?\d[\d.]*", wanted)
    return bool(alone) and wanted.count(".") <= 1 and float(wanted) in numbers_in(text)


def numbers_in(text: str) -> set[float]:
    """Return the numbers of a text; separators of thousands are left out."""
    found = set()
    for match in _NUMBER.finditer(text):
        written = match[0].replace("\u2212", "-")
        for part in (re.sub(r"[,\u00a0\u202f' ]", "", written), *re.split(r"[, \u00a0\u202f']+", written)):
            try:
                found.add(float(part))
            except ValueError:
                continue
    return found


def _holds_date(text: str, year: int, month: int, day: int) -> bool:
    name = _MONTHS[month - 1] if 1 <= month <= 12 else ""
    numbers = {int(digits) for digits in re.findall(r"\d+", text)}
    named = bool(name) and re.search(rf"\b({name}|{name[:3]})\b", text) is not None
    packed = f"{year:04}{month:02}{day:02}" in text
    return packed or (year in numbers and day in numbers and (named or month in numbers))


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
