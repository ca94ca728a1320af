"""The figures of a benchmark, with what they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        name: a short name for scripts.
        what: what was measured, for people.
        unit: of measured and target.
        measured: the figure; NaN where this system does not tell.
        target: what it should be; None if nothing was promised.
        at_most: the target is the most it should be, not the least.
    """

    name: str
    what: str
    unit: str
    measured: float
    target: float | None = None
    at_most: bool = False

    @property
    def ratio(self) -> float | None:
        """How many times better than the target it is; 1 and more meet it."""
        if self.target is None or math.isnan(self.measured):
            return None
        better, worse = (self.target, self.measured) if self.at_most else (self.measured, self.target)
        return better / worse if worse else math.inf

    def record(self) -> dict[str, Any]:
        """Return the figure with its ratio as a JSON object; null for what is not known."""
        measured = None if math.isnan(self.measured) else float(f"{self.measured:.4g}")
        ratio = None if self.ratio is None else round(self.ratio, 2)
        return asdict(self) | {"measured": measured, "ratio": ratio}


def make_figures(
    engine: Mapping[str, float], json_files: Mapping[str, float], mcp: Mapping[str, float], snapshot_bytes: int
) -> tuple[Figure, ...]:
    """Return the table of one run from what `measure_engine`, `measure_json_files` and `measure_mcp` returned."""
    kb, a_second = snapshot_bytes / 1024, "/CPU s"
    one_by_one, episodes = engine["calls_s"], engine["episodes_s"]
    return (
        Figure(
            "reset_ms", "reset after an episode that wrote, p50, through the pipe", "ms", engine["reset_ms"], 0.2, True
        ),
        Figure(
            "episode_kb",
            "memory of one more live episode, a process of its own",
            "kB",
            engine["episode_kb"],
            kb + 1024,
            True,
        ),
        Figure(
            "calls_inside", "lookups inside a worker, arguments checked", a_second, engine["calls_inside_s"], 25_000
        ),
        Figure("calls", "lookups through the pipe, one by one", a_second, one_by_one, 8_000),
        Figure(
            "calls_batched", "lookups through the pipe, a batch a message", a_second, engine["calls_batched_s"], 20_000
        ),
        Figure("episodes", "judged oracle episodes of 8 calls, in one process", a_second, episodes, 1_000),
        Figure("episodes_forked", "the same, a process for each", a_second, engine["episodes_forked_s"]),
        Figure("json_calls", "stand-in JSON files: lookups", a_second, json_files["calls_s"]),
        Figure("json_episodes", "stand-in JSON files: judged episodes", a_second, json_files["episodes_s"]),
        Figure("mcp_calls", "stand-in MCP SDK in memory: lookups", a_second, mcp["calls_s"]),
        Figure("mcp_episodes", "stand-in MCP SDK in memory: judged episodes", a_second, mcp["episodes_s"]),
        Figure("calls_to_json", "lookups one by one, to JSON files", "x", one_by_one / json_files["calls_s"], 5),
        Figure("episodes_to_json", "judged episodes, to JSON files", "x", episodes / json_files["episodes_s"], 5),
        Figure("calls_to_mcp", "lookups one by one, to the MCP SDK", "x", one_by_one / mcp["calls_s"], 10),
        Figure("episodes_to_mcp", "judged episodes, to the MCP SDK", "x", episodes / mcp["episodes_s"], 10),
    )
