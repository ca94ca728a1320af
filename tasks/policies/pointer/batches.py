"""Batches: several encoded episodes padded to tensors, with fresh random slots for their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tasks.policies.pointer.encoding import Encoded, unpack_flags
from tasks.policies.pointer.session import N_FEATURES, Decision
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
    """B x N x W bags of words."""
    words: Tensor
    """B x W ids in the closed vocabulary."""
    slots: Tensor
    """B x W x slot: the random vector that stands for each word in this episode."""
    relations: Tensor
    """B x 4 x N x T cosines: keys with keys, values with values, keys with values, values with keys."""
    allowed: Tensor
    """B x N x T: which units each may look at."""


@dataclass
class Decisions:
    """The decisions of a batch: head, asking unit, candidates, which were chosen, and their features."""

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


def relate(keys: Tensor, values: Tensor, all_keys: Tensor, all_values: Tensor) -> Tensor:
    """Return the four cosines (B x 4 x N x T) between the bags of new units and of all units, by weight of word."""
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
    for index, episode in enumerate(episodes):
        ids = vocabulary.ids(episode.words)
        scale = vocabulary.weights(ids)
        words[index, : len(ids)] = ids
        table[index, :, : episode.length] = episode.table
        numbers[index, : episode.length] = episode.numbers
        for bags, (unit, word, weight) in ((keys, episode.keys), (values, episode.values)):
            bags[index, unit, word] = weight * scale[word]
    all_keys, all_values = torch.from_numpy(keys), torch.from_numpy(values)
    batch = Batch(
        table=torch.from_numpy(table),
        numbers=torch.from_numpy(numbers),
        keys=all_keys,
        values=all_values,
        words=torch.from_numpy(words),
        slots=slot_vectors(size * width, slot, seed).view(size, width, slot),
        relations=relate(all_keys, all_values, all_keys, all_values),
        allowed=torch.ones(units, units, dtype=torch.bool).tril()[None].expand(size, -1, -1),
    )
    return batch, _decisions(episodes, units)


def _decisions(episodes: Sequence[Encoded], units: int) -> Decisions:
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
        heads[index, :n], asks[index, :n] = episode.decisions.T
        decision, unit, hit = episode.candidates.T
        mask[index, decision, unit] = True
        chosen[index, decision, unit] = hit
        features[index, decision, unit] = unpack_flags(episode.features)
        weights[index, :n] = episode.advantage
    mask[:, :, 0] |= ~mask.any(-1)
    return Decisions(*(torch.from_numpy(a) for a in (heads, asks, mask, chosen, features, weights)))


def pad_decisions(asked: Sequence[Sequence[Decision]], units: int) -> Decisions:
    """Pad the open decisions of several episodes, of `units` units at most, to tensors; nothing is chosen yet."""
    size, count = len(asked), max(1, *(len(decisions) for decisions in asked))
    heads = np.zeros((size, count), np.int64)
    asks = np.zeros((size, count), np.int64)
    mask = np.zeros((size, count, units), bool)
    features = np.zeros((size, count, units, N_FEATURES), np.uint8)
    for row, decisions in enumerate(asked):
        for column, decision in enumerate(decisions):
            heads[row, column], asks[row, column] = decision.head, decision.position
            mask[row, column, decision.candidates] = True
            features[row, column, decision.candidates] = decision.features
    mask[:, :, 0] |= ~mask.any(-1)
    parts = [torch.from_numpy(part) for part in (heads, asks, mask, np.zeros_like(mask), features)]
    return Decisions(*parts, torch.ones(size, count))
