"""Two arms on the same tasks: is the difference more than noise?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from math import comb

from schemas.episode import ArenaResult
from schemas.statistics import Comparison

RESAMPLES = 2000


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided exact McNemar p-value of the discordant pairs (Q. McNemar, Psychometrika 12, 1947).

    Under no difference each discordant pair goes either way with 1/2, so the tail is binomial; 1.0 without any.
    """
    discordant = only_first + only_second
    tail = sum(comb(discordant, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, 2 * tail / 2**discordant)


def paired_bootstrap(
    differences: Sequence[float], seed: int, confidence: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean of paired differences (Efron and Tibshirani, 1993, ch. 13).

    Raises:
        ValueError: without differences.
    """
    if not differences:
        raise ValueError("a bootstrap needs at least one pair; the two arms share no task")
    rng = random.Random(seed)
    size = len(differences)
    means = sorted(sum(rng.choices(differences, k=size)) / size for _ in range(resamples))
    edge = (1 - confidence) / 2
    return means[int(edge * (resamples - 1))], means[round((1 - edge) * (resamples - 1))]


def compare_arms(
    results: Iterable[ArenaResult], arm: str, baseline: str, *, seed: int, split: str = "", confidence: float = 0.95
) -> Comparison:
    """Compare two arms over the arena's tasks and attempts that both had in one round; `split` narrows environments.

    The bootstrap resamples tasks, not attempts: several attempts at one task are not independent.

    Raises:
        ValueError: if the arms share no task, ran in different rounds, or one holds an attempt twice.
    """
    first: dict[tuple[str, int], bool] = {}
    second: dict[tuple[str, int], bool] = {}
    rounds: set[int] = set()
    for result in results:
        if (
            result.purpose != "arena"
            or result.arm not in (arm, baseline)
            or (split and result.environment_split != split)
        ):
            continue
        side = first if result.arm == arm else second
        key = (result.task_id, result.attempt)
        if key in side:
            raise ValueError(f"arm {result.arm!r} holds task {key[0]} attempt {key[1]} twice; give one round at a time")
        side[key] = result.success
        rounds.add(result.round)
    if len(rounds) > 1:
        raise ValueError(f"arms {arm!r} and {baseline!r} ran in several rounds {sorted(rounds)}; compare one at a time")
    pairs = [(task, first[task, attempt], second[task, attempt]) for task, attempt in sorted(first.keys() & second)]
    if not pairs:
        raise ValueError(f"arms {arm!r} and {baseline!r} share no task{f' on {split} environments' if split else ''}")
    by_task: dict[str, list[int]] = {}
    for task, won, lost in pairs:
        by_task.setdefault(task, []).append(int(won) - int(lost))
    differences = [sum(values) / len(values) for values in by_task.values()]
    low, high = paired_bootstrap(differences, seed, confidence)
    outcomes = [(won, lost) for _, won, lost in pairs]
    only_arm, only_baseline = outcomes.count((True, False)), outcomes.count((False, True))
    return Comparison(
        round=rounds.pop(), arm=arm, baseline=baseline, group=split or "all", tasks=len(by_task), attempts=len(pairs),
        both=outcomes.count((True, True)), only_arm=only_arm, only_baseline=only_baseline,
        neither=outcomes.count((False, False)), difference=sum(differences) / len(differences), low=low, high=high,
        p_value=mcnemar_exact(only_arm, only_baseline), confidence=confidence, seed=seed,
    )  # fmt: skip
