"""The examples of a folder as arrays, encoded by several processes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tasks.policies.pointer.encoding import Encoded, encode
from tasks.training.config import TrainingConfig
from tasks.training.examples import Example, Signature, read_examples, read_tools

_CHUNK = 48


@dataclass(frozen=True)
class EncodedExamples:
    """Encoded episodes with their families, and counts of what was cut or left out."""

    episodes: list[Encoded]
    families: list[str]
    counts: dict[str, int]


def encode_examples(workdir: Path, config: TrainingConfig) -> EncodedExamples:
    """Encode the folder's examples. Episodes with a decision that cannot be pointed at keep their other decisions;
    those longer than `max_units` are left out; both are counted.

    Raises:
        FileNotFoundError: if the folder holds no examples.
    """
    tools = read_tools(workdir)
    examples = list(read_examples(workdir))
    chunks = [examples[start : start + _CHUNK] for start in range(0, len(examples), _CHUNK)]
    jobs = [(chunk, _needed(chunk, tools), config.seed + 7919 * n) for n, chunk in enumerate(chunks)]
    if config.threads > 1 and len(chunks) > 4:
        with ProcessPoolExecutor(config.threads, mp_context=get_context("spawn")) as pool:
            parts = list(pool.map(_encode_chunk, jobs))
    else:
        parts = [_encode_chunk(job) for job in jobs]
    encoded = [episode for part in parts for episode in part]
    kept = [index for index, episode in enumerate(encoded) if episode.length <= config.max_units]
    counts = {
        "examples": len(encoded),
        "too_long": len(encoded) - len(kept),
        "decisions": sum(episode.covered + episode.uncovered for episode in encoded),
        "covered": sum(episode.covered for episode in encoded),
        "fully_covered": sum(episode.uncovered == 0 for episode in encoded),
        "truncated_units": sum(episode.truncated for episode in encoded),
    }
    return EncodedExamples([encoded[i] for i in kept], [examples[i].family for i in kept], counts)


def _needed(chunk: Sequence[Example], tools: dict[str, dict[str, Signature]]) -> dict[str, dict[str, Signature]]:
    return {example.env_id: tools[example.env_id] for example in chunk}


def _encode_chunk(job: tuple[Sequence[Example], dict[str, dict[str, Signature]], int]) -> list[Encoded]:
    """Encode examples, each with its tools in a random order, so that no tool's place means anything."""
    chunk, tools, seed = job
    rng = random.Random(seed)
    encoded = []
    for example in chunk:
        offered = [tools[example.env_id][name] for name in example.tools]
        rng.shuffle(offered)
        encoded.append(encode(example.prompt, offered, example.fields, example.steps, example.answer))
    return encoded
