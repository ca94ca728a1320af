"""A stream of encoded batches: which episodes a step learns from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tasks.policies.pointer.encoding import Encoded, encode
from tasks.policies.pointer.vocabulary import Vocabulary, learn_vocabulary
from tasks.training.config import TrainingConfig
from tasks.training.examples import EXAMPLES, Example, Signature, read_tools

_WINDOW = 4
"""A batch is drawn from this many times its size of episodes of like length, so that little is padding."""
_PER_FAMILY = 16
"""Episodes of each environment family from which the vocabulary is learnt."""


@dataclass(frozen=True)
class EncodedBatch:
    """The episodes of one step, and what was counted while encoding them."""

    episodes: list[Encoded]
    counts: dict[str, int]


class ExampleStream:
    """The examples of a training's folder, read once and encoded when first drawn.

    A batch is a function of (seed, step), so that a resumed training meets the same batches.
    """

    def __init__(self, workdir: Path, config: TrainingConfig, fresh: bool = True, rank: int = 0) -> None:
        """Read the folder. A training from random weights (`fresh`) begins with the shortest third. `rank` says which
        of the training's processes this is: each has its own part of every step's episodes.

        Raises:
            FileNotFoundError: if it holds no examples.
            ValueError: if there are none in its file.
        """
        self._config = config
        self._easy = config.easy_steps if fresh else 0
        self._rank = rank
        self._kept: dict[int, Encoded] = {}
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
        """Return the places of this process's examples of a step: of like length in all processes, every example as
        likely as any other. An example always falls to the same process."""
        config = self._config
        count = len(self._lines) if step >= self._easy else max(1, len(self._lines) // 3)
        rng = random.Random(f"{config.seed}/{step}")
        window = min(count, _WINDOW * config.batch * config.processes)
        first = rng.randrange(-window // 2, count - window // 2)
        first = min(max(first, 0), count - window)
        own = range(first + (self._rank - first) % config.processes, first + window, config.processes)
        return random.Random(f"{config.seed}/{step}/{self._rank}").sample(own, min(config.batch, len(own)))

    def batches(self, start: int) -> Iterator[EncodedBatch]:
        """Yield the batches from step `start` on, without end."""
        for step in range(start, start + 10**9):
            yield self._counted([self._encoded(place) for place in self.draw(step)])

    def _encoded(self, place: int) -> Encoded:
        """Return an example encoded; kept, for encoding takes as long as learning from it."""
        if place not in self._kept:
            example = Example.model_validate_json(self._lines[place])
            self._kept[place] = _encode(example, self._tools, self._config.seed * 1_000_003 + place)
        return self._kept[place]

    def _counted(self, encoded: Sequence[Encoded]) -> EncodedBatch:
        """A decision that cannot be pointed at is left out, and so is an episode of too many units: both counted."""
        kept = [e for e in encoded if e.length <= self._config.max_units and len(e.decisions)]
        counts = {
            "episodes": len(encoded),
            "too_long": len(encoded) - len(kept),
            "decisions": sum(e.covered + e.uncovered for e in encoded),
            "covered": sum(e.covered for e in encoded),
            "fully_covered": sum(e.uncovered == 0 for e in encoded),
            "truncated_units": sum(e.truncated for e in encoded),
        }
        return EncodedBatch(kept, counts)


def _encode(example: Example, tools: dict[str, dict[str, Signature]], seed: int) -> Encoded:
    """Encode an example with its tools in a random order, so that no tool's place means anything."""
    offered = [tools[example.env_id][name] for name in example.tools]
    random.Random(seed).shuffle(offered)
    return encode(example.prompt, offered, example.fields, example.steps, example.answer)
