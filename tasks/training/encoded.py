"""A stream of encoded batches: which episodes a step learns from, encoded ahead of it by another process."""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tasks.policies.pointer.encoding import Encoded, encode
from tasks.policies.pointer.vocabulary import Vocabulary, learn_vocabulary
from tasks.training.config import TrainingConfig
from tasks.training.examples import EXAMPLES, Example, Signature, read_tools

_WINDOW = 4
"""A batch is drawn from this many times its size of episodes of like length, so that little is padding."""
_AHEAD = 6
"""Batches encoded ahead of the training."""
_PER_FAMILY = 16
"""Episodes of each environment family from which the vocabulary is learnt."""


@dataclass(frozen=True)
class EncodedBatch:
    """The episodes of one step, what was counted while encoding them, and the CPU seconds that it took elsewhere."""

    episodes: list[Encoded]
    counts: dict[str, int]
    cpu_seconds: float


class ExampleStream:
    """The examples of a training's folder, read once and encoded when drawn.

    A batch is a function of (seed, step), so that a resumed training meets the same batches.
    """

    def __init__(self, workdir: Path, config: TrainingConfig, fresh: bool = True) -> None:
        """Read the folder. A training from random weights (`fresh`) begins with the shortest third.

        Raises:
            FileNotFoundError: if it holds no examples.
            ValueError: if there are none in its file.
        """
        self._config = config
        self._easy = config.easy_steps if fresh else 0
        self._tools = read_tools(workdir)
        self._lines = sorted((workdir / EXAMPLES).read_text(encoding="utf-8").splitlines(), key=len)
        if not self._lines:
            raise ValueError(f"{workdir / EXAMPLES}: no examples to learn from; prepare some from successful episodes")

    def __len__(self) -> int:
        return len(self._lines)

    def vocabulary(self) -> Vocabulary:
        """Return the closed vocabulary, learnt from some episodes of each family."""
        chosen: dict[str, list[Example]] = {}
        order = list(range(len(self._lines)))
        random.Random(self._config.seed).shuffle(order)
        for index in order:
            example = Example.model_validate_json(self._lines[index])
            group = chosen.setdefault(example.family, [])
            if len(group) < _PER_FAMILY:
                group.append(example)
        return learn_vocabulary(
            (family, _encode(example, self._tools, 0).common_words)
            for family, group in chosen.items()
            for example in group
        )

    def draw(self, step: int) -> list[int]:
        """Return the places of a step's examples: of like length, every example as likely as any other."""
        config = self._config
        count = len(self._lines) if step >= self._easy else max(1, len(self._lines) // 3)
        rng = random.Random(f"{config.seed}/{step}")
        window = min(count, _WINDOW * config.batch)
        first = rng.randrange(-window // 2, count - window // 2)
        first = min(max(first, 0), count - window)
        return rng.sample(range(first, first + window), min(config.batch, window))

    def batches(self, start: int) -> Iterator[EncodedBatch]:
        """Yield the batches from step `start` on, without end; close the iterator to stop the encoding process."""
        if self._config.threads < 2:
            for step in range(start, start + 10**9):
                yield self._encode_here(step)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            waiting: OrderedDict[int, Future[EncodedBatch]] = OrderedDict()
            for step in range(start, start + 10**9):
                for later in range(step + len(waiting), step + _AHEAD):
                    waiting[later] = pool.submit(_encode_batch, *self._job(later))
                yield waiting.pop(step).result()

    def _encode_here(self, step: int) -> EncodedBatch:
        batch = _encode_batch(*self._job(step))
        return EncodedBatch(batch.episodes, batch.counts, 0.0)

    def _job(self, step: int) -> tuple[list[Example], dict[str, dict[str, Signature]], int, int]:
        examples = [Example.model_validate_json(self._lines[place]) for place in self.draw(step)]
        tools = {example.env_id: self._tools[example.env_id] for example in examples}
        return examples, tools, self._config.seed * 1_000_003 + step, self._config.max_units


def _encode_batch(
    examples: Sequence[Example], tools: dict[str, dict[str, Signature]], seed: int, most: int
) -> EncodedBatch:
    """Encode examples. A decision that cannot be pointed at is left out, and so is an episode of more than `most`
    units; both are counted."""
    began = time.process_time()
    encoded = [_encode(example, tools, seed + place) for place, example in enumerate(examples)]
    kept = [episode for episode in encoded if episode.length <= most and len(episode.decisions)]
    counts = {
        "episodes": len(encoded),
        "too_long": len(encoded) - len(kept),
        "decisions": sum(episode.covered + episode.uncovered for episode in encoded),
        "covered": sum(episode.covered for episode in encoded),
        "fully_covered": sum(episode.uncovered == 0 for episode in encoded),
        "truncated_units": sum(episode.truncated for episode in encoded),
    }
    return EncodedBatch(kept, counts, time.process_time() - began)


def _encode(example: Example, tools: dict[str, dict[str, Signature]], seed: int) -> Encoded:
    """Encode an example with its tools in a random order, so that no tool's place means anything."""
    offered = [tools[example.env_id][name] for name in example.tools]
    random.Random(seed).shuffle(offered)
    return encode(example.prompt, offered, example.fields, example.steps, example.answer)
