"""The pointer network: a small causal transformer with match heads whose outputs point at its own positions.

Pointing: Vinyals et al. 2015, "Pointer Networks"; copying beside a vocabulary: See et al. 2017. Match heads (attention
limited to positions that share content words) and random slots in place of word embeddings are built-in priors: the
network cannot learn what a noun means, only how nouns of prompt, tools and observations meet.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tasks.policies.pointer.batches import Batch, Decisions
from tasks.policies.pointer.history import N_FEATURES
from tasks.policies.pointer.units import N_NUMBERS, N_SHAPES, Kind

N_RELATIONS = 4
_SHARPNESS = 4.0
_NEVER = -1e4
_WAVES = 32
_RELATION_SCALE = 8.0
_FEATURE_SCALE = 10.0
"""Weights that act on a logit directly are stored divided by these: an optimizer moves all by like steps."""


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the network. `heads` counts free and match heads; four of them are match heads."""

    vocabulary: int
    width: int = 96
    layers: int = 4
    heads: int = 6
    slot: int = 48
    places: int = 164
    rows: int = 32
    steps: int = 32

    def as_dict(self) -> dict[str, Any]:
        """Return the sizes as a JSON object."""
        return asdict(self)


class Block(nn.Module):
    """A pre-norm transformer block in which active units look at all units."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.asked = nn.Linear(width, width)
        self.offered = nn.Linear(width, 2 * width)
        self.merge = nn.Linear(width, width)
        self.think = Thought(width)

    def forward(self, x: Tensor, states: Tensor, mask: Tensor, memory: KeyValues | None, layer: int) -> Tensor:
        """Return the active units' states (B x A x width), given those of all new units (B x N x width); `mask` is
        B x heads x A x T."""
        batch, active, width = x.shape
        part = width // self.heads
        q = self.asked(self.norm(x)).view(batch, active, self.heads, part).transpose(1, 2)
        k, v = self.offered(self.norm(states)).view(batch, -1, 2, self.heads, part).permute(2, 0, 3, 1, 4)
        if memory is not None:
            k, v = memory.extend(layer, k, v)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.think(x + self.merge(mixed.transpose(1, 2).reshape(batch, active, width)))


class Thought(nn.Module):
    """The feed-forward half of a block."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 2 * width)
        self.contract = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return the states after it."""
        return x + self.contract(F.gelu(self.expand(self.norm(x))))


class KeyValues:
    """What later units need of earlier ones, for many sequences of unequal length: keys, values, pointer targets."""

    def __init__(self, layers: int, batch: int, heads: int, room: int, width: int) -> None:
        self.keys = torch.zeros((layers, batch, room, heads, width // heads))
        self.values = torch.zeros_like(self.keys)
        self.targets = torch.zeros((batch, room, width))
        self.rows = torch.arange(batch)
        self.places = torch.zeros((batch, 0), dtype=torch.long)
        self.end = 0

    def aim(self, rows: list[int], starts: list[int], new: int, end: int) -> None:
        """Say which sequences the next forward extends (`rows`), from which places on, and by how many units."""
        self.rows = torch.tensor(rows)
        self.places = torch.tensor(starts)[:, None] + torch.arange(new)[None]
        self.end = end
        short = end - self.targets.shape[1]
        if short > 0:
            self.keys = F.pad(self.keys, (0, 0, 0, 0, 0, short + 128))
            self.values = F.pad(self.values, (0, 0, 0, 0, 0, short + 128))
            self.targets = F.pad(self.targets, (0, 0, 0, short + 128))

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new units' keys and values (batch x heads x new x part); return those of all units."""
        index = (self.rows[:, None], self.places)
        self.keys[layer][index] = k.transpose(1, 2)
        self.values[layer][index] = v.transpose(1, 2)
        k, v = self.keys[layer, :, : self.end][self.rows], self.values[layer, :, : self.end][self.rows]
        return k.transpose(1, 2), v.transpose(1, 2)

    def keep(self, targets: Tensor) -> Tensor:
        """Store the new units' pointer targets (batch x new x width); return those of all units."""
        self.targets[self.rows[:, None], self.places] = targets
        return self.targets[self.rows, : self.end]


def _waves(places: int) -> Tensor:
    """Return sines and cosines of places (Vaswani et al. 2017), so that near places look alike; place 0 is none."""
    rates = torch.exp(-torch.arange(_WAVES // 2) * math.log(200.0) / (_WAVES // 2))
    angles = torch.arange(places)[:, None] * rates
    waves = torch.cat([angles.sin(), angles.cos()], dim=1)
    waves[0] = 0.0
    return waves


class PointerNetwork(nn.Module):
    """Embeds units, mixes them, and scores the candidates of each decision."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width = config.width
        self.config = config
        self.kind = nn.Embedding(len(Kind), width)
        self.shape = nn.Embedding(N_SHAPES, width)
        self.place = nn.Linear(_WAVES, width, bias=False)
        self.register_buffer("waves", _waves(config.places), persistent=False)
        self.row = nn.Embedding(config.rows, width)
        self.step = nn.Embedding(config.steps, width)
        self.shared = nn.Embedding(config.vocabulary, config.slot, padding_idx=0)
        self.named = nn.Linear(config.slot, width, bias=False)
        self.valued = nn.Linear(config.slot, width, bias=False)
        self.numbers = nn.Linear(N_NUMBERS, width, bias=False)
        nn.init.normal_(self.shared.weight[1:], std=0.3)
        for table in (self.kind, self.shape, self.row, self.step):
            nn.init.normal_(table.weight, std=0.3)
        self.read = Thought(width)
        self.blocks = nn.ModuleList(Block(width, config.heads) for _ in range(config.layers))
        self.norm = nn.LayerNorm(width)
        self.target = nn.Linear(width, width, bias=False)
        self.query = nn.Linear(width, 3 * width, bias=False)
        self.relations = nn.Parameter(torch.full((3, N_RELATIONS), 0.5))
        self.features = nn.Parameter(torch.zeros(3, N_FEATURES))

    def embed(self, batch: Batch) -> Tensor:
        """Return the units' embeddings before any attention (batch x new x width)."""
        words = batch.slots + self.shared(batch.words)
        kind, shape, place, row, step = batch.table.unbind(1)
        x = self.kind(kind) + self.shape(shape) + self.place(self.waves[place]) + self.row(row) + self.step(step)
        x = x + self.named(batch.keys @ words) + self.valued(batch.values @ words)
        return x + self.numbers(batch.numbers)

    def masks(self, relations: Tensor, allowed: Tensor) -> Tensor:
        """Return the attention bias (batch x heads x new x all) of free and match heads.

        `relations` (batch x 4 x new x all) are cosines of bags of words; `allowed` (batch x new x all) is causality.
        A match head sees only positions that share a word, and the sink at position 0.
        """
        size, _, new, old = relations.shape
        mask = torch.empty(size, self.config.heads, new, old)
        free = self.config.heads - N_RELATIONS
        mask[:, :free] = torch.where(allowed, 0.0, _NEVER)[:, None]
        matched = mask[:, free:]
        torch.mul(relations, _SHARPNESS, out=matched)
        matched.masked_fill_((relations <= 0.05).logical_or_(~allowed[:, None]), _NEVER)
        matched[..., 0] = 0.0
        return mask

    def forward(self, batch: Batch, decisions: Decisions) -> tuple[Tensor, Tensor]:
        """Return, by decision (B x D), the log-probability of what was chosen and the entropy over candidates."""
        asking, states = self.states(batch)
        scores = self.score(asking, self.target(states), batch.relations, decisions)
        chosen = scores.masked_fill(~decisions.chosen, _NEVER).logsumexp(-1)
        entropy = -(scores.exp() * scores).sum(-1)
        return chosen, entropy

    def states(self, batch: Batch, memory: KeyValues | None = None) -> tuple[Tensor, Tensor]:
        """Return the states of the active units (B x A x width) and of all new units (B x N x width)."""
        mask = self.masks(batch.relations, batch.allowed)
        x = F.pad(self.read(self.embed(batch)), (0, 0, 0, 1))  # one more place, for padding to point at
        index = batch.active[:, :, None].expand(-1, -1, x.shape[2])
        active, states = x.gather(1, index), x
        for layer, block in enumerate(self.blocks):
            active = block(active, states[:, :-1], mask, memory, layer)
            states = x.scatter(1, index, active)
        return self.norm(active), self.norm(states[:, :-1])

    def score(self, asking: Tensor, targets: Tensor, relations: Tensor, decisions: Decisions) -> Tensor:
        """Return the log-probability of every candidate (B x D x T) of every decision.

        `asking` are the states of the active units (B x A x width), `targets` those of all units, projected
        (B x T x width), `relations` (B x 4 x A x T) those of the active units.
        """
        asks = decisions.asks
        batch, count, width = *asks.shape, self.config.width
        asking = asking.gather(1, asks[:, :, None].expand(-1, -1, width))
        relations = relations.gather(2, asks[:, None, :, None].expand(-1, N_RELATIONS, -1, relations.shape[3]))
        heads = decisions.heads
        queries = self.query(asking).view(batch, count, 3, width)
        queries = queries.gather(2, heads[:, :, None, None].expand(-1, -1, 1, width)).squeeze(2)
        scores = queries @ targets.transpose(1, 2) / math.sqrt(width)
        strengths = _RELATION_SCALE * self.relations[heads]
        scores = scores + (relations * strengths.permute(0, 2, 1)[..., None]).sum(1)
        scores = scores + (decisions.features.float() @ (_FEATURE_SCALE * self.features[heads])[..., None]).squeeze(-1)
        return F.log_softmax(scores.masked_fill(~decisions.mask, _NEVER), dim=-1)
