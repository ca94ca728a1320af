from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.environment import Environment
from tasks.arena import split_environments


def environments(count: int, categories: int = 5) -> list[Environment]:
    return [
        Environment(
            env_id=f"env-{i:03d}",
            theme_id=f"theme-{i:03d}",
            name=f"World {i}",
            category_l1=f"category {i % categories}",
            state="accepted",
        )
        for i in range(count)
    ]


@given(count=st.integers(1, 60), categories=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_shares_hold_for_any_number_of_environments(count: int, categories: int, seed: int) -> None:
    found = Counter(split_environments(environments(count, categories), seed).values())
    assert found.total() == count
    assert found["held_out"] == min(max(3, round(count / 4)), count // 2)
    assert found["train"] >= count / 2 or count < 8
    assert found["train"] >= 1


def test_every_large_category_gives_its_quarter() -> None:
    records = environments(80, categories=4)
    splits = split_environments(records, seed=3)
    held_out = Counter(e.category_l1 for e in records if splits[e.env_id] == "held_out")
    assert set(held_out.values()) == {5}


def test_the_split_depends_on_the_seed_and_not_on_the_order() -> None:
    records = environments(40)
    assert split_environments(records, 1) == split_environments(records[::-1], 1)
    assert split_environments(records, 1) != split_environments(records, 2)


def test_themes_and_lineages_stay_together() -> None:
    records = environments(24)
    records.append(records[0].model_copy(update={"env_id": "env-900", "lineage": "env-000"}))
    records.append(records[0].model_copy(update={"env_id": "env-901", "theme_id": "theme-new", "lineage": "env-900"}))
    records.append(records[7].model_copy(update={"env_id": "env-902"}))
    for seed in range(20):
        splits = split_environments(records, seed)
        assert splits["env-000"] == splits["env-900"] == splits["env-901"]
        assert splits["env-007"] == splits["env-902"]


def test_known_splits_never_move_when_environments_are_added() -> None:
    first = split_environments(environments(20), seed=0)
    known = [e.model_copy(update={"split": first[e.env_id]}) for e in environments(20)]
    added = [e for e in environments(40) if e.env_id not in first]
    again = split_environments(known + added, seed=0)
    assert {env_id: again[env_id] for env_id in first} == first
    assert Counter(again.values())["held_out"] == 10


def test_without_known_splits_one_more_environment_moves_few() -> None:
    moved = []
    for seed in range(20):
        before, after = (split_environments(environments(n, categories=8), seed) for n in (40, 41))
        moved.append(sum(before[env_id] != after[env_id] for env_id in before))
    assert max(moved) <= 6
    assert sum(moved) / len(moved) <= 3


def test_contradictions_are_refused() -> None:
    a, b = environments(2)
    with pytest.raises(ValueError, match="different splits"):
        split_environments(
            [a.model_copy(update={"split": "train"}), b.model_copy(update={"lineage": a.env_id, "split": "held_out"})],
            0,
        )
    with pytest.raises(ValueError, match="twice"):
        split_environments([a, a], 0)
