"""Bounded best-first search for the fewest steps that make everything known that must be known, writes in order."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

MOST_NODES = 600
"""States that one search expands at most."""


@dataclass(frozen=True)
class Move:
    """A step: it may be made once all bits of `requires` are known, and then those of `provides` are.

    `write` is the step's place among the writes (which are made in order), None for a read; `late` reads see the state
    after all writes.
    """

    name: int
    requires: int
    provides: int
    write: int | None = None
    late: bool = False


@dataclass(frozen=True)
class Cover:
    """The cheapest sequence found, None if there is none; `exhausted`: no shorter one exists among these moves."""

    moves: tuple[Move, ...] | None
    exhausted: bool


def cover(reads: Sequence[Move], writes: Sequence[Move], goal: int, most: int) -> Cover:
    """Return the shortest sequence of moves that makes all writes and knows all of `goal`, of fewer than `most` moves.

    Greedy first (the read that adds most), to have a bound; then best-first with the number of writes left, plus one if
    something is still unknown that no write left provides, as the estimate (it never overestimates). At most
    `MOST_NODES` states are looked at.
    """
    reads = _undominated(reads)
    best = greedy(reads, writes, goal)
    bound = min(most, len(best) if best is not None else most)
    best = best if best is not None and len(best) < most else None
    gain = [0] * (len(writes) + 1)
    for number in range(len(writes) - 1, -1, -1):
        gain[number] = gain[number + 1] | writes[number].provides
    order = count()
    heap: list[tuple[int, int, int, int, int, tuple[Move, ...]]] = [(len(writes), 0, next(order), 0, 0, ())]
    seen: dict[tuple[int, int], int] = {(0, 0): 0}
    nodes = 0
    while heap:
        estimate, _, _, known, done, path = heapq.heappop(heap)
        if estimate >= bound:
            return Cover(best, True)
        if done == len(writes) and goal & ~known == 0:
            return Cover(path, True)
        nodes += 1
        if nodes > MOST_NODES:
            return Cover(best, False)
        for move in _next(reads, writes, known, done):
            now, after = known | move.provides, done + (move.write is not None)
            cost = len(path) + 1
            if seen.get((now, after), bound) <= cost:
                continue
            left = len(writes) - after
            guess = cost + left + bool(goal & ~now & ~gain[after])
            if guess < bound:
                seen[now, after] = cost
                missing = (goal & ~now).bit_count()
                heapq.heappush(heap, (guess, missing, next(order), now, after, (*path, move)))
    return Cover(best, True)


def greedy(reads: Sequence[Move], writes: Sequence[Move], goal: int) -> tuple[Move, ...] | None:
    """Return the sequence that always takes the read which adds most of what is wanted; None if it gets stuck."""
    known, done, path = 0, 0, []
    wanted = goal
    for move in (*reads, *writes):
        wanted |= move.requires
    while done < len(writes) or goal & ~known:
        moves = list(_next(reads, writes, known, done))
        if not moves:
            return None
        now = [m for m in moves if m.write is not None]
        early = [m for m in moves if m.write is None and not m.late and m.provides & goal & ~known]
        chosen = now[0] if now and not early else max(moves, key=lambda m: _gain(m, known, goal, wanted))
        if chosen.write is None and not _gain(chosen, known, goal, wanted)[1]:
            return None
        known |= chosen.provides
        done += chosen.write is not None
        path.append(chosen)
    return tuple(path)


def _gain(move: Move, known: int, goal: int, wanted: int) -> tuple[int, int, int]:
    return ((move.provides & goal & ~known).bit_count(), (move.provides & wanted & ~known).bit_count(), -move.name)


def _next(reads: Sequence[Move], writes: Sequence[Move], known: int, done: int) -> list[Move]:
    """Return the moves that may be made and that tell something new."""
    found = [
        move
        for move in reads
        if not move.requires & ~known and move.provides & ~known and (done == len(writes) if move.late else not done)
    ]
    if done < len(writes) and not writes[done].requires & ~known:
        found.append(writes[done])
    return found


def _undominated(reads: Sequence[Move]) -> list[Move]:
    """Return the reads without those for which another one shows as much and asks for no more."""
    kept: list[Move] = []
    for move in sorted(reads, key=lambda m: (m.requires.bit_count(), -m.provides.bit_count(), m.name)):
        if move.provides and not any(
            not other.requires & ~move.requires and not move.provides & ~other.provides and other.late == move.late
            for other in kept
        ):
            kept.append(move)
    return kept
