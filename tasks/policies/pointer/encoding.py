"""A whole episode as arrays: its units, its decisions, and which candidates its trajectory chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tasks.policies.pointer.columns import Columns
from tasks.policies.pointer.history import N_FEATURES
from tasks.policies.pointer.labels import targets
from tasks.policies.pointer.session import Decision, Session
from tasks.policies.pointer.units import N_NUMBERS, OMIT


@dataclass(slots=True)
class Encoded:
    """An episode of U units, W words and D decisions with C candidates in all."""

    table: np.ndarray
    """5 x U: kind, shape, place, row, step."""
    numbers: np.ndarray
    """U x N_NUMBERS."""
    keys: tuple[np.ndarray, np.ndarray, np.ndarray]
    values: tuple[np.ndarray, np.ndarray, np.ndarray]
    """unit, word, weight of every entry of the two bags of words."""
    words: list[str]
    common: np.ndarray
    """W booleans: which words stand in schemas or in plain lower-case text, so may belong to the closed vocabulary."""
    decisions: np.ndarray
    """D x 2: head, unit."""
    candidates: np.ndarray
    """C x 3 (int16): decision, unit, chosen (0 or 1)."""
    features: np.ndarray
    """C (uint64): the N_FEATURES flags of each candidate as bits."""
    covered: int
    uncovered: int
    truncated: int
    advantage: float = 1.0
    """The weight of its decisions in the loss; for reinforcement the group-relative advantage."""

    @property
    def common_words(self) -> list[str]:
        """The words that may belong to the closed vocabulary."""
        return [word for word, common in zip(self.words, self.common, strict=True) if common]

    @property
    def length(self) -> int:
        """Number of units."""
        return self.table.shape[1]


def pack(columns: Columns, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return table and numbers of the units from `start` on."""
    return columns.table(start).copy(), np.array(columns.numbers[start:], np.float32).reshape(-1, N_NUMBERS)


def pack_flags(flags: np.ndarray) -> np.ndarray:
    """Return each row of up to 64 flags (C x F) as the bits of one number."""
    return (flags.astype(np.uint64) << np.arange(flags.shape[1], dtype=np.uint64)).sum(1, dtype=np.uint64)


def unpack_flags(bits: np.ndarray) -> np.ndarray:
    """Return the flags (C x N_FEATURES, uint8) that `pack_flags` packed."""
    return ((bits[:, None] >> np.arange(N_FEATURES, dtype=np.uint64)) & 1).astype(np.uint8)


def _triples(entries: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not entries:
        return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
    units, words, weights = zip(*entries, strict=True)
    return np.array(units, np.int32), np.array(words, np.int32), np.array(weights, np.float32)


def encode(
    prompt: str, tools: Sequence[Any], fields: Sequence[Any], steps: Sequence[Any], answer: Mapping[str, Any] | None
) -> Encoded:
    """Encode an episode with all its decisions and their labels.

    `steps` have tool, arguments and observation. A value that stands nowhere among the candidates makes its
    decision uncovered: it is left out of the loss and counted. `answer` None means that the episode never finished.
    """
    session = Session(prompt, tools, fields)
    made: list[tuple[Decision, np.ndarray]] = []
    for step in steps:
        if session.full or step.tool not in session.tools:
            break
        decision = session.decide()
        made.append((decision, targets(decision.values, step.tool)))
        for decision in session.arguments(step.tool):
            made.append((decision, targets(decision.values, step.arguments.get(decision.name, OMIT))))
        session.record(step.tool, step.arguments, step.observation)
    else:
        if answer is not None:
            decision = session.decide()
            made.append((decision, targets(decision.values, None)))
            for field, decision in zip(session.fields, session.answer(), strict=True):
                made.append((decision, targets(decision.values, answer.get(field.name), field)))
    kept = [(decision, chosen) for decision, chosen in made if chosen.any()]
    table, numbers = pack(session.columns)
    rows = [
        np.stack([np.full(len(chosen), index), decision.candidates, chosen], axis=1)
        for index, (decision, chosen) in enumerate(kept)
    ]
    return Encoded(
        table=table,
        numbers=numbers,
        keys=_triples(session.columns.keys),
        values=_triples(session.columns.values),
        words=list(session.columns.words),
        common=session.columns.common(),
        decisions=np.array([(int(d.head), d.position) for d, _ in kept], np.int32).reshape(-1, 2),
        candidates=np.concatenate(rows).astype(np.int16) if rows else np.zeros((0, 3), np.int16),
        features=pack_flags(np.concatenate([d.features for d, _ in kept])) if kept else np.zeros(0, np.uint64),
        covered=len(kept),
        uncovered=len(made) - len(kept) + (0 if answer is None or len(steps) == session.step else 1),
        truncated=session.truncated,
    )
