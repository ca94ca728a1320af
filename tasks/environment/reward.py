"""The shaped reward: correctness first, then small terms that can never lift a wrong episode above a right one."""

from __future__ import annotations

from tasks.environment.verify import Verdict

EFFICIENCY = 0.1
"""The most that a right episode loses for calls beyond the oracle's."""
FORMAT = 0.05
"""What a wrong episode gets for an answer that has exactly the fields asked for."""


def shaped_reward(verdict: Verdict, calls: int, oracle_calls: int) -> float:
    """Return the reward of an episode: 0.9 to 1 if it is right, 0 or 0.05 if it is wrong.

    A right one gets 1 up to the oracle's number of calls and loses `EFFICIENCY` evenly until twice that number. A wrong
    one gets `FORMAT` for its form alone. Success is `verdict.success`; do not read it off the reward.

    Args:
        calls: tool calls that the episode made.
        oracle_calls: tool calls that the oracle makes.
    """
    if not verdict.success:
        return FORMAT if verdict.checks.get("format", False) else 0.0
    beyond = max(0, calls - oracle_calls) / max(1, oracle_calls)
    return 1.0 - EFFICIENCY * min(1.0, beyond)
