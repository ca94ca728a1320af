"""From verifier rewards to advantages."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev


def group_advantages(rewards: Sequence[float]) -> list[float] | None:
    """Return each reward's distance from its group's mean in standard deviations (GRPO, Shao et al. 2024).

    None if all rewards are equal: such a group says nothing and is skipped (as in DAPO, Yu et al. 2025).
    """
    spread = pstdev(rewards) if rewards else 0.0
    if spread < 1e-6:
        return None
    mean = fmean(rewards)
    return [(reward - mean) / spread for reward in rewards]
