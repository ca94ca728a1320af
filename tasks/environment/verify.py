"""The verifier: judges an episode by its answer and by what it changed, never by its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from schemas.task import AnswerField, Change, Verifier
from tasks.environment.matching import Key, equal_multisets, equal_values, mentions, minted_keys, renamings

_MAX_RENAMINGS = 200


@dataclass(frozen=True)
class Verdict:
    """What the verifier found.

    Attributes:
        success: every check holds.
        reward: 1.0 on success, else 0.0.
        checks: "format" (the answer has exactly the fields asked for), "answer.<field>" each, and "state".
    """

    success: bool
    reward: float
    checks: dict[str, bool] = field(default_factory=dict)


def _has_type(value: Any, kind: str) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, list | tuple) if kind == "array" else isinstance(value, str)


def equal_answers(field: AnswerField, expected: Any, actual: Any, names: Mapping[Key, Key]) -> bool:
    """Say whether an answer's field holds the expected value, in the field's type and within its tolerance.

    A field that is expected to be null must be null. `names` renames minted keys, see `renamings`.
    """
    if expected is None:
        return actual is None
    if not _has_type(actual, field.type):
        return False
    if field.type == "array" and field.unordered and isinstance(expected, list | tuple):
        return equal_multisets(expected, actual, lambda e, a: equal_values(e, a, names, field.tolerance))
    return equal_values(expected, actual, names, field.tolerance)


def verify(verifier: Verifier, answer: Mapping[str, Any] | None, changes: Sequence[Change]) -> Verdict:
    """Judge an episode.

    Args:
        verifier: expected answer and expected changes. Keys of inserted rows may have other names, as long as the same
            names stand wherever those rows are meant: in other rows and in the answer.
        answer: the answer given; None if the episode ended without one.
        changes: the difference that the episode left.

    Returns:
        The verdict. With several possible renamings, the one under which most fields hold counts.
    """
    names = [field.name for field in verifier.answer]
    given = answer if isinstance(answer, Mapping) else {}
    checks: dict[str, bool] = {"format": isinstance(answer, Mapping) and set(given) == set(names)}

    def judge(renaming: Mapping[Key, Key]) -> dict[str, bool]:
        return {
            f"answer.{field.name}": field.name in given
            and equal_answers(field, verifier.expected_answer.get(field.name), given[field.name], renaming)
            for field in verifier.answer
        }

    found = renamings(verifier.expected_changes, changes, verifier.ignore_columns)
    best: dict[str, bool] | None = None
    named = mentions(verifier.expected_answer, minted_keys(verifier.expected_changes))  # else all judge alike
    for renaming in islice(found, _MAX_RENAMINGS if named else 1):
        fields = judge(renaming)
        if best is None or sum(fields.values()) > sum(best.values()):
            best = fields
        if all(fields.values()):
            break
    checks |= judge({}) if best is None else best
    checks["state"] = best is not None
    success = all(checks.values())
    return Verdict(success=success, reward=1.0 if success else 0.0, checks=checks)
