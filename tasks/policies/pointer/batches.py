"""Batches: several encoded episodes padded to tensors, with fresh random slots for their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tasks.policies.pointer.encoding import Encoded, unpack_flags
from tasks.policies.pointer.history import N_FEATURES
from tasks.policies.pointer.session import Decision
from tasks.policies.pointer.units import THINKING
from tasks.policies.pointer.vocabulary import Vocabulary


@dataclass
class Batch:
    """Units of B episodes (N new of T in all), W words, and D decisions an episode, padded."""

    table: Tensor
    """B x 5 x N: kind, shape, place, row, step."""
    numbers: Tensor
    """B x N x N_NUMBERS."""
    keys: Tensor
    values: Tensor
    """B x N x W bags of words, as they are; comparisons weigh each word by how telling it is."""
    words: Tensor
    """B x W ids in the closed vocabulary."""
    slots: Tensor
    """B x W x slot: the random vector that stands for each word in this episode."""
    active: Tensor
    """B x A: places among the new units of those that think; N for padding."""
    relations: Tensor
    """B x 4 x A x T cosines: keys with keys, values with values, keys with values, values with keys."""
    allowed: Tensor
    """B x A x T: which units each may look at."""


@dataclass
class Decisions:
    """The decisions of a batch: head, which of the active units asks, candidates, the chosen ones, and features."""

    heads: Tensor
    asks: Tensor
    mask: Tensor
    chosen: Tensor
    features: Tensor
    weights: Tensor
    """B x D: 0 for padding, else the episode's advantage."""


def slot_vectors(count: int, size: int, seed: int) -> Tensor:
    """Return `count` random vectors of unit length (count x size)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(count, size, generator=generator), dim=-1) * 2.0


def thinking(kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (B x A, padded with N) of the thinking units of B rows of N kinds, and each place's rank."""
    found = np.isin(kinds, THINKING)
    count = max(1, int(found.sum(1).max()))
    ranks = np.cumsum(found, axis=1) - 1
    active = np.full((len(kinds), count), kinds.shape[1], np.int64)
    rows, places = np.nonzero(found)
    active[rows, ranks[rows, places]] = places
    return active, ranks


def pick(bags: Tensor, active: Tensor) -> Tensor:
    """Return the rows (B x A x W) of the active units out of those of all units (B x N x W); padding gives zeros."""
    if not bags.shape[1]:  # nothing new in any of the episodes
        return bags.new_zeros(*active.shape, bags.shape[2])
    inside = active < bags.shape[1]
    index = active.clamp_max(bags.shape[1] - 1)[:, :, None].expand(-1, -1, bags.shape[2])
    return bags.gather(1, index) * inside[:, :, None]


def relate(keys: Tensor, values: Tensor, all_keys: Tensor, all_values: Tensor) -> Tensor:
    """Return the four cosines (B x 4 x A x T) between the bags of active units and of all units, by weight of word."""
    keys, values, all_keys, all_values = (_unit(bag) for bag in (keys, values, all_keys, all_values))
    size, new, old = keys.shape[0], keys.shape[1], all_keys.shape[1]
    found = torch.empty(4, size, new, old)
    pairs = ((keys, all_keys), (values, all_values), (keys, all_values), (values, all_keys))
    for index, (left, right) in enumerate(pairs):
        torch.bmm(left, right.transpose(1, 2), out=found[index])
    return found.transpose(0, 1)


def _unit(bag: Tensor) -> Tensor:
    return bag / bag.norm(dim=-1, keepdim=True).clamp_min(1e-6)


def collate(episodes: Sequence[Encoded], vocabulary: Vocabulary, slot: int, seed: int) -> tuple[Batch, Decisions]:
    """Pad encoded episodes to one batch. `seed` draws the words' slots: another seed, other slots."""
    size, units = len(episodes), max(e.length for e in episodes)
    width = max(len(e.words) for e in episodes)
    table = np.zeros((size, 5, units), np.int64)
    numbers = np.zeros((size, units, 8), np.float32)
    keys = np.zeros((size, units, width), np.float32)
    values = np.zeros((size, units, width), np.float32)
    words = np.zeros((size, width), np.int64)
    scale = np.ones((size, 1, width), np.float32)
    for index, episode in enumerate(episodes):
        ids = vocabulary.ids(episode.words)
        scale[index, 0, : len(ids)] = vocabulary.weights(ids)
        words[index, : len(ids)] = ids
        table[index, :, : episode.length] = episode.table
        numbers[index, : episode.length] = episode.numbers
        for bags, (unit, word, weight) in ((keys, episode.keys), (values, episode.values)):
            bags[index, unit, word] = weight
    all_keys, all_values = torch.from_numpy(keys), torch.from_numpy(values)
    told = [bag * torch.from_numpy(scale) for bag in (all_keys, all_values)]
    places, ranks = thinking(table[:, 0])
    active = torch.from_numpy(places)
    batch = Batch(
        table=torch.from_numpy(table),
        numbers=torch.from_numpy(numbers),
        keys=all_keys,
        values=all_values,
        words=torch.from_numpy(words),
        slots=slot_vectors(size * width, slot, seed).view(size, width, slot),
        active=active,
        relations=relate(pick(told[0], active), pick(told[1], active), *told),
        allowed=torch.arange(units)[None, None] <= active[:, :, None],
    )
    return batch, _decisions(episodes, units, ranks)


def _decisions(episodes: Sequence[Encoded], units: int, ranks: np.ndarray) -> Decisions:
    size, count = len(episodes), max(1, *(len(e.decisions) for e in episodes))
    heads = np.zeros((size, count), np.int64)
    asks = np.zeros((size, count), np.int64)
    mask = np.zeros((size, count, units), bool)
    chosen = np.zeros((size, count, units), bool)
    features = np.zeros((size, count, units, N_FEATURES), np.uint8)
    weights = np.zeros((size, count), np.float32)
    for index, episode in enumerate(episodes):
        n = len(episode.decisions)
        if not n:
            continue
        heads[index, :n] = episode.decisions[:, 0]
        asks[index, :n] = ranks[index, episode.decisions[:, 1]]
        decision, unit, hit = episode.candidates.T
        mask[index, decision, unit] = True
        chosen[index, decision, unit] = hit
        features[index, decision, unit] = unpack_flags(episode.features)
        weights[index, :n] = episode.advantage
    mask[:, :, 0] |= ~mask.any(-1)
    return Decisions(*(torch.from_numpy(a) for a in (heads, asks, mask, chosen, features, weights)))


def pad_decisions(
    asked: Sequence[Sequence[Decision]], units: int, ranks: np.ndarray, starts: Sequence[int]
) -> Decisions:
    """Pad the open decisions of several episodes, of `units` units at most, to tensors; nothing is chosen yet.

    `ranks` are those of the new units, which begin at `starts`.
    """
    size, count = len(asked), max(1, *(len(decisions) for decisions in asked))
    heads = np.zeros((size, count), np.int64)
    asks = np.zeros((size, count), np.int64)
    mask = np.zeros((size, count, units), bool)
    features = np.zeros((size, count, units, N_FEATURES), np.uint8)
    for row, decisions in enumerate(asked):
        for column, decision in enumerate(decisions):
            heads[row, column] = decision.head
            asks[row, column] = ranks[row, decision.position - starts[row]]
            mask[row, column, decision.candidates] = True
            features[row, column, decision.candidates] = decision.features
    mask[:, :, 0] |= ~mask.any(-1)
    parts = [torch.from_numpy(part) for part in (heads, asks, mask, np.zeros_like(mask), features)]
    return Decisions(*parts, torch.ones(size, count))
