"""The pointer policy: decides each call and the answer by pointing, many episodes at a time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from schemas.base import content_hash
from schemas.task import Call
from tasks.policies.pointer.live import Live, LiveBatch
from tasks.policies.pointer.network import PointerNetwork
from tasks.policies.pointer.session import Decision, Session
from tasks.policies.pointer.units import OMIT
from tasks.policies.pointer.vocabulary import Vocabulary
from tasks.rollout import Answer, View


class PointerPolicy:
    """A trained pointer network as a policy. It samples at `temperature`; 0 takes the most probable value.

    Sessions of episodes in progress are kept between calls of `moves` and found again by seed and prompt, so that
    each move costs its new units only; an episode that it does not know is read again from its view.
    """

    def __init__(
        self, network: PointerNetwork, vocabulary: Vocabulary, policy_id: str, temperature: float = 1.0
    ) -> None:
        self.network = network.eval()
        self.vocabulary = vocabulary
        self.policy_id = policy_id
        self.temperature = temperature
        self._batch: LiveBatch | None = None
        self._lives: dict[tuple[int, str, int], Live] = {}

    def moves(self, views: Sequence[View], seeds: Sequence[int]) -> list[Call | Answer]:
        """Return one decision for each episode; the same views, seeds and weights give the same moves."""
        lives = self._find(views, seeds)
        asked = [live.session.decide() for live in lives]
        choosers = [random.Random(f"{seed}/{live.session.step}") for seed, live in zip(seeds, lives, strict=True)]
        assert self._batch is not None
        scores = self._batch.ask(lives, [[decision] for decision in asked])
        tools = [
            None if live.session.full else self._choose(decision, score[0], chooser)
            for live, decision, score, chooser in zip(lives, asked, scores, choosers, strict=True)
        ]
        details = [
            live.session.answer() if tool is None else live.session.arguments(tool)
            for live, tool in zip(lives, tools, strict=True)
        ]
        scores = self._batch.ask(lives, details)
        moves: list[Call | Answer] = []
        for tool, decisions, score, chooser in zip(tools, details, scores, choosers, strict=True):
            chosen = {d.name: self._choose(d, s, chooser) for d, s in zip(decisions, score, strict=True)}
            chosen = {name: value for name, value in chosen.items() if value is not OMIT}
            moves.append(Answer(chosen) if tool is None else Call(tool=tool, arguments=chosen))
        self._forget(moves)
        return moves

    def _choose(self, decision: Decision, scores: np.ndarray, chooser: random.Random) -> Any:
        if len(decision.values) == 0:
            return OMIT
        if self.temperature > 0:
            weights = np.exp((scores - scores.max()) / self.temperature)
            return decision.values[chooser.choices(range(len(weights)), weights=weights.tolist())[0]]
        sums: dict[str, float] = {}
        for value, score in zip(decision.values, scores, strict=True):
            sums[repr(value)] = sums.get(repr(value), 0.0) + float(np.exp(score))
        best = max(sums, key=lambda key: sums[key])
        return next(value for value in decision.values if repr(value) == best)

    def _find(self, views: Sequence[View], seeds: Sequence[int]) -> list[Live]:
        """Return the live episode of each view, brought up to its last step."""
        if self._batch is None or len(views) > self.network_rows:
            self.network_rows = max(len(views), 32)
            self._batch, self._lives = LiveBatch(self.network, self.vocabulary, self.network_rows), {}
        seen: dict[tuple[int, str], int] = {}
        wanted: dict[tuple[int, str, int], View] = {}
        for view, seed in zip(views, seeds, strict=True):
            name = (seed, content_hash([view.prompt, [tool.name for tool in view.tools]]))
            seen[name] = seen.get(name, -1) + 1
            wanted[*name, seen[name]] = view
        for key in [key for key in self._lives if key not in wanted or not self._follows(key, wanted[key])]:
            self._batch.close(self._lives.pop(key))
        self._order = list(wanted)
        lives = []
        for key, view in wanted.items():
            if key not in self._lives:
                session = Session(view.prompt, view.tools, view.answer)
                self._lives[key] = self._batch.open(session, key[0])
                for step in view.steps:
                    session.decide()
                    session.arguments(step.tool)
                    session.record(step.tool, step.arguments, step.observation)
            elif len(view.steps) > self._lives[key].session.step:
                step = view.steps[-1]
                self._lives[key].session.record(step.tool, step.arguments, step.observation)
            lives.append(self._lives[key])
        return lives

    def _follows(self, key: tuple[int, str, int], view: View) -> bool:
        return len(view.steps) == self._lives[key].session.step + 1

    def _forget(self, moves: Sequence[Call | Answer]) -> None:
        for key, move in zip(self._order, moves, strict=True):
            if isinstance(move, Answer):
                assert self._batch is not None
                self._batch.close(self._lives.pop(key))


def seed_everything(seed: int) -> None:
    """Seed torch's generator, from which initial weights are drawn."""
    torch.manual_seed(seed)
