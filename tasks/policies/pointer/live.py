"""Live episodes: sessions with their cached attention, so that each move costs only its new units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from tasks.policies.pointer.batches import Batch, pad_decisions, pick, relate, slot_vectors, thinking
from tasks.policies.pointer.encoding import pack
from tasks.policies.pointer.network import KeyValues, PointerNetwork
from tasks.policies.pointer.session import Decision, Session
from tasks.policies.pointer.vocabulary import Vocabulary

_WORDS = 1536


class Live:
    """One episode in progress: its session, its words' slots and its bags of words so far."""

    def __init__(self, session: Session, slots: Tensor, row: int) -> None:
        self.session = session
        self.slots = slots
        self.row = row
        self.done = 0
        """units whose attention is cached"""
        self.ids = np.zeros(0, np.int64)
        self.bags = np.zeros((2, 0, 0), np.float32)

    def grow(self, vocabulary: Vocabulary) -> None:
        """Extend the bags of words to the session's present units."""
        columns = self.session.columns
        words = list(columns.words)
        if len(words) > len(self.ids):
            self.ids = np.concatenate([self.ids, vocabulary.ids(words[len(self.ids) :])])
        old = self.bags
        self.bags = np.zeros((2, len(columns), len(words)), np.float32)
        self.bags[:, : old.shape[1], : old.shape[2]] = old
        for index, entries in enumerate((columns.keys, columns.values)):
            for unit, word, weight in reversed(entries):
                if unit < self.done:
                    break
                self.bags[index, unit, word] = weight


class LiveBatch:
    """The live episodes of a policy and the memory that they share."""

    def __init__(self, network: PointerNetwork, vocabulary: Vocabulary, size: int) -> None:
        config = network.config
        self.network, self.vocabulary = network, vocabulary
        self.memory = KeyValues(config.layers, size, config.heads, 320, config.width)
        self.free = list(range(size))[::-1]

    def open(self, session: Session, seed: int) -> Live:
        """Start an episode; `seed` draws its slots.

        Raises:
            IndexError: if all rows are taken.
        """
        return Live(session, slot_vectors(_WORDS, self.network.config.slot, seed), self.free.pop())

    def close(self, live: Live) -> None:
        """End an episode and free its row."""
        self.free.append(live.row)

    @torch.inference_mode()
    def ask(self, lives: Sequence[Live], decisions: Sequence[list[Decision]]) -> list[list[np.ndarray]]:
        """Return the log-probabilities of the candidates of each decision of each episode."""
        for live in lives:
            live.grow(self.vocabulary)
        batch, ranks, starts = self._batch(lives)
        asking, states = self.network.states(batch, self.memory)
        targets = self.memory.keep(self.network.target(states))
        for live in lives:
            live.done = len(live.session.columns)
        padded = pad_decisions(decisions, targets.shape[1], ranks, starts)
        scores = self.network.score(asking, targets, batch.relations, padded).numpy()
        return [
            [scores[row, column, decision.candidates] for column, decision in enumerate(asked)]
            for row, asked in enumerate(decisions)
        ]

    def _batch(self, lives: Sequence[Live]) -> tuple[Batch, np.ndarray, list[int]]:
        size = len(lives)
        starts = [live.done for live in lives]
        counts = [len(live.session.columns) - live.done for live in lives]
        new, end = max(counts), max(start + max(counts) for start in starts)
        width = max(len(live.ids) for live in lives)
        table = np.zeros((size, 5, new), np.int64)
        numbers = np.zeros((size, new, 8), np.float32)
        bags = np.zeros((2, size, end, width), np.float32)
        fresh = np.zeros((2, size, new, width), np.float32)
        words = np.zeros((size, width), np.int64)
        scale = np.ones((size, 1, width), np.float32)
        for row, live in enumerate(lives):
            part = pack(live.session.columns, live.done)
            table[row, :, : counts[row]], numbers[row, : counts[row]] = part
            units, width_here = live.bags.shape[1:]
            bags[:, row, :units, :width_here] = live.bags
            fresh[:, row, : counts[row], :width_here] = live.bags[:, live.done :]
            words[row, :width_here] = live.ids
            scale[row, 0, :width_here] = self.vocabulary.weights(live.ids)
        self.memory.aim([live.row for live in lives], starts, new, end)
        keys, values = torch.from_numpy(fresh)
        telling = torch.from_numpy(scale)
        places, ranks = thinking(table[:, 0])
        active = torch.from_numpy(places)
        batch = Batch(
            table=torch.from_numpy(table),
            numbers=torch.from_numpy(numbers),
            keys=keys,
            values=values,
            words=torch.from_numpy(words),
            slots=torch.stack([live.slots[:width] for live in lives]),
            active=active,
            relations=relate(
                pick(keys * telling, active), pick(values * telling, active), *(torch.from_numpy(bags) * telling)
            ),
            allowed=torch.arange(end)[None, None] <= (torch.tensor(starts)[:, None] + active)[:, :, None],
        )
        return batch, ranks, starts
