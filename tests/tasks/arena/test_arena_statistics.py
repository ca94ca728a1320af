from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.episode import ArenaResult
from tasks.arena import compare_arms, mcnemar_exact, paired_bootstrap, success_rates, wilson


def result(task: int, arm: str, success: bool, **changes: object) -> ArenaResult:
    base = ArenaResult(
        round=1, arm=arm, policy_id=arm, env_id=f"env-{task % 3}", task_id=f"task-{task}", attempt=0, success=success,
        reward=float(success), kind="graph" if task % 2 else "program", category_l1=f"category {task % 3}",
        environment_split="held_out" if task % 3 == 0 else "train", oracle_calls=task % 12 + 1,
    )  # fmt: skip
    return base.model_copy(update=changes)


def test_wilson_agrees_with_published_values() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: method 3, without continuity correction.
    for (successes, attempts), (low, high) in {
        (81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611), (1, 29): (0.0061, 0.1718),
    }.items():  # fmt: skip
        assert wilson(successes, attempts) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_wilson_holds_the_share_and_stays_in_bounds(a: int, b: int) -> None:
    low, high = wilson(min(a, b), max(a, b))
    share = min(a, b) / max(a, b) if max(a, b) else 0.5
    assert 0 <= low <= share <= high <= 1


def test_wilson_refuses_impossible_counts() -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(3, 2)


def test_rates_are_counted_by_every_grouping_and_only_for_the_purpose() -> None:
    results = [result(i, "before", i % 4 == 0) for i in range(60)]
    results += [result(i, "before", True, purpose="diagnosis") for i in range(60, 90)]
    rates = {(r.by, r.group): r for r in success_rates(results)}
    assert (rates["overall", "all"].successes, rates["overall", "all"].attempts) == (15, 60)
    assert rates["split", "held_out"].attempts == 20
    for by in ("split", "category", "environment", "kind", "length"):
        assert sum(r.attempts for (b, _), r in rates.items() if b == by) == 60
    assert [g for b, g in rates if b == "length"] == ["1-2 calls", "3-4 calls", "5-6 calls", "7-9 calls", "10-20 calls"]


def test_mcnemar_agrees_with_the_binomial_by_hand() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(0, 6) == pytest.approx(2 / 64)
    assert mcnemar_exact(2, 8) == pytest.approx(2 * (1 + 10 + 45) / 1024)
    assert mcnemar_exact(600, 900) < 1e-9


def test_the_bootstrap_is_seeded_and_covers_the_mean() -> None:
    rng = random.Random(0)
    values = [rng.choice((-1, 0, 0, 0, 1, 1)) for _ in range(300)]
    low, high = paired_bootstrap(values, seed=4)
    assert paired_bootstrap(values, seed=4) == (low, high) != paired_bootstrap(values, seed=5)
    assert low < sum(values) / 300 < high
    assert high - low == pytest.approx(2 * 1.96 * (sum(v * v for v in values) / 300) ** 0.5 / 300**0.5, rel=0.2)


def test_arms_are_compared_on_shared_tasks_of_the_arena() -> None:
    before = [result(i, "before", i % 5 == 0) for i in range(100)]
    directed = [result(i, "directed", i % 5 == 0 or i % 7 == 0) for i in range(20, 120)]
    spoilt = [result(i, "directed", True, purpose="diagnosis") for i in range(20)]
    comparison = compare_arms(before + directed + spoilt, "directed", "before", seed=1)
    assert (comparison.tasks, comparison.only_baseline) == (80, 0)
    assert comparison.difference == pytest.approx(comparison.only_arm / 80)
    assert comparison.low > 0 and comparison.p_value == mcnemar_exact(comparison.only_arm, 0)
    narrow = compare_arms(before + directed, "directed", "before", seed=1, split="held_out")
    assert narrow.group == "held_out" and narrow.tasks < 80


def test_comparisons_without_a_meaning_are_refused() -> None:
    before, directed = [result(1, "before", True)], [result(2, "directed", True)]
    with pytest.raises(ValueError, match="share no task"):
        compare_arms(before + directed, "directed", "before", seed=0)
    with pytest.raises(ValueError, match="twice"):
        compare_arms(before + before, "directed", "before", seed=0)
    with pytest.raises(ValueError, match="several rounds"):
        compare_arms([*before, result(1, "directed", True, round=2)], "directed", "before", seed=0)


def test_a_result_counts_in_each_of_its_classes() -> None:
    results = [result(i, "before", i < 2, classes=("long", "decline") if i % 2 else ("long",)) for i in range(6)]
    rates = {r.group: r for r in success_rates([*results, result(9, "before", True)], by=("class",))}
    assert {name: (r.successes, r.attempts) for name, r in rates.items()} == {"decline": (1, 3), "long": (2, 6)}
