"""Equality of values and of state differences, up to the names that minted keys happen to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from schemas.task import Change

Key = str | int

_MAX_CANDIDATES = 20_000
"""Bound on the search for a renaming; only adversarial differences with many like inserts come near it."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal_values(expected: Any, actual: Any, names: Mapping[Key, Key], tolerance: float = 0.0) -> bool:
    """Say whether two JSON values are equal: bool is no number, "3" is not 3, 3.0 is 3.

    Args:
        expected: the value looked for; a text in it that is a renamed key must appear under its new name.
        actual: the value found.
        names: expected minted key -> actual key.
        tolerance: absolute tolerance of numbers; where one of them is no integer, rounding noise (1e-9 relative)
            is allowed as well.
    """
    if isinstance(expected, str):
        return isinstance(actual, str) and actual == (names.get(expected, expected) if names else expected)
    if _is_number(expected):
        if not _is_number(actual):
            return False
        if isinstance(expected, int) and names.get(expected) == actual:
            return True
        try:
            if isinstance(expected, int) and isinstance(actual, int):
                return abs(actual - expected) <= tolerance
            return abs(actual - expected) <= tolerance + 1e-9 * max(1.0, abs(expected))
        except OverflowError:  # an integer beyond the range of floats
            return False
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(expected) == len(actual)
            and all(equal_values(e, a, names, tolerance) for e, a in zip(expected, actual, strict=True))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(actual, Mapping)
            and expected.keys() == actual.keys()
            and all(equal_values(item, actual[key], names, tolerance) for key, item in expected.items())
        )
    return type(expected) is type(actual) and expected == actual


def equal_multisets(expected: Sequence[Any], actual: Sequence[Any], equal: Callable[[Any, Any], bool]) -> bool:
    """Say whether the items can be paired one to one, whatever their order (augmenting paths: Kuhn 1955)."""
    if len(expected) != len(actual):
        return False
    partner: dict[int, int] = {}
    unpaired = []
    for item, value in enumerate(expected):  # pairing at sight nearly always suffices
        free = next((o for o, other in enumerate(actual) if o not in partner and equal(value, other)), None)
        if free is None:
            unpaired.append(item)
        else:
            partner[free] = item

    def assign(item: int, seen: set[int]) -> bool:
        for other in range(len(actual)):
            if other in seen or not equal(expected[item], actual[other]):
                continue
            seen.add(other)
            if other not in partner or assign(partner[other], seen):
                partner[other] = item
                return True
        return False

    return len(expected) <= 500 and all(assign(item, set()) for item in unpaired) if unpaired else True


_PLAIN = (str, int, float, type(None))


def _equal_rows(
    expected: Mapping[str, Any] | None,
    actual: Mapping[str, Any] | None,
    table: str,
    ignored: frozenset[str],
    names: Mapping[Key, Key],
) -> bool:
    if expected is None or actual is None:
        return expected is actual
    if not names and expected == actual and list(map(type, expected.values())) == list(map(type, actual.values())):
        return True  # nearly every row; the types tell true from 1
    if expected.keys() != actual.keys():
        return False
    for column, value in expected.items():
        other = actual[column]
        if type(value) is type(other) and value == other and type(value) in _PLAIN and value not in names:
            continue  # nearly every cell
        if ignored and f"{table}.{column}" in ignored:
            continue
        if not equal_values(value, other, names):
            return False
    return True


def _equal_change(expected: Change, actual: Change, ignored: frozenset[str], names: Mapping[Key, Key]) -> bool:
    return (
        expected.table == actual.table
        and expected.operation == actual.operation
        and equal_values(expected.key, actual.key, names)
        and _equal_rows(expected.before, actual.before, expected.table, ignored, names)
        and _equal_rows(expected.after, actual.after, expected.table, ignored, names)
    )


def _could_match(expected: Change, actual: Change, ignored: frozenset[str], minted: frozenset[Key]) -> bool:
    """Compare two inserts while the renaming is open: cells that hold minted keys are left for later."""
    if expected.table != actual.table or expected.after is None or actual.after is None:
        return False
    if expected.after.keys() != actual.after.keys():
        return False
    for column, value in expected.after.items():
        other = actual.after[column]
        if type(value) is type(other) and value == other and type(value) in _PLAIN:
            continue
        if (isinstance(value, Key) and value in minted) or f"{expected.table}.{column}" in ignored:
            continue
        if not equal_values(value, other, {}):
            return False
    return True


def _without_unchanged(changes: Sequence[Change], ignored: frozenset[str]) -> list[Change]:
    """Drop updates that touch ignored columns only."""
    return [
        change
        for change in changes
        if change.operation != "update" or not _equal_rows(change.before, change.after, change.table, ignored, {})
    ]


def _count(changes: Sequence[Change], operation: str) -> int:
    return sum([change.operation == operation for change in changes])


def mentions(value: Any, keys: frozenset[Key]) -> bool:
    """Say whether one of the keys stands anywhere in a JSON value."""
    if not keys:
        return False
    if isinstance(value, dict):
        try:
            return not keys.isdisjoint(value.values())
        except TypeError:  # a value is itself an object or a list
            return any(mentions(item, keys) for item in value.values())
    if isinstance(value, list | tuple):
        return any(mentions(item, keys) for item in value)
    return isinstance(value, Key) and value in keys


def minted_keys(changes: Sequence[Change]) -> frozenset[Key]:
    """Return the keys of the inserted rows."""
    return frozenset(change.key for change in changes if change.operation == "insert")


def renamings(
    expected: Sequence[Change], actual: Sequence[Change], ignore_columns: Sequence[str] = ()
) -> Iterator[dict[Key, Key]]:
    """Yield each renaming of the expected inserts' keys under which both differences are the same.

    Nothing is yielded if they differ. A renaming is a bijection within each table; it also applies where such a key
    stands in another cell. Cells of `ignore_columns` ('table.column') are not compared.
    """
    if any(_count(expected, kind) != _count(actual, kind) for kind in ("insert", "delete")):
        return
    ignored = frozenset(ignore_columns)
    wanted, found = _without_unchanged(expected, ignored), _without_unchanged(actual, ignored)
    inserts = [change for change in wanted if change.operation == "insert"]
    options = [change for change in found if change.operation == "insert"]
    others = [change for change in wanted if change.operation != "insert"]
    rest = [change for change in found if change.operation != "insert"]
    if len(inserts) != len(options) or len(others) != len(rest):
        return
    minted = minted_keys(inserts)
    # what names no minted key compares alike under every renaming: once is enough, and before any is searched for
    named = [change for change in others if mentions([change.key, change.before, change.after], minted)]
    if not named and not equal_multisets(others, rest, lambda e, a: _equal_change(e, a, ignored, {})):
        return
    candidates = [[i for i, o in enumerate(options) if _could_match(change, o, ignored, minted)] for change in inserts]
    order = sorted(range(len(inserts)), key=lambda index: len(candidates[index]))
    budget = _MAX_CANDIDATES

    def complete(names: dict[Key, Key], chosen: list[int]) -> bool:
        return all(
            _equal_change(inserts[index], options[option], ignored, names)
            for index, option in zip(order, chosen, strict=True)
        ) and (not named or equal_multisets(others, rest, lambda e, a: _equal_change(e, a, ignored, names)))

    def search(depth: int, names: dict[Key, Key], chosen: list[int]) -> Iterator[dict[Key, Key]]:
        nonlocal budget
        if depth == len(order):
            if complete(names, chosen):
                yield dict(names)
            return
        index = order[depth]
        for option in candidates[index]:
            budget -= 1
            if budget < 0:
                return
            if option in chosen:
                continue
            key, new = inserts[index].key, options[option].key
            if key in names and names[key] != new:  # two tables that minted the same key
                continue
            known = key in names
            names[key] = new
            yield from search(depth + 1, names, [*chosen, option])
            if not known:
                del names[key]

    yield from search(0, {}, [])
