"""Rewards, files and messages of trainings, without a training."""

from __future__ import annotations

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.environment import EnvironmentImage
from tasks.training import MissingTraining, group_advantages, prepare_sft
from tasks.training.examples import read_examples, read_tools
from tasks.training.images import load_images, load_tasks, save_images


def test_advantages_are_relative_to_the_group() -> None:
    assert group_advantages([1.0, 0.0, 0.0, 1.0]) == [1.0, -1.0, -1.0, 1.0]
    assert sum(group_advantages([0.0, 0.05, 0.95, 0.0])) == pytest.approx(0.0)


@pytest.mark.parametrize("rewards", [[], [0.0, 0.0], [1.0, 1.0, 1.0]])
def test_groups_without_variance_say_nothing(rewards: list[float]) -> None:
    assert group_advantages(rewards) is None


def test_images_survive_a_round_trip(tmp_path) -> None:
    image = EnvironmentImage.of(shop_database(), shop_tools(), shop_snapshot())
    save_images([image], tmp_path)
    assert load_images(tmp_path) == {image.env_id: image}


def test_examples_keep_only_successes(shop, tmp_path) -> None:
    database, _, tools, pairs = shop
    failed = [(task, trajectory.model_copy(update={"success": False})) for task, trajectory in pairs[:3]]
    counts = prepare_sft([*failed, *pairs[3:]], {database.env_id: tools}, tmp_path, {database.env_id: "shops"})
    examples = list(read_examples(tmp_path))
    assert (counts.failed, counts.written) == (3, len(examples)) == (3, len(pairs) - 3)
    assert {example.family for example in examples} == {"shops"}
    assert set(read_tools(tmp_path)[database.env_id]) == {"ask_user", *(tool.name for tool in tools)}


def test_examples_of_unknown_tools_are_refused(shop, tmp_path) -> None:
    database, _, tools, pairs = shop
    with pytest.raises(ValueError, match="no tools"):
        prepare_sft(pairs, {database.env_id: tools[:1]}, tmp_path)


def test_reward_tasks_carry_no_oracle(folder) -> None:
    for task in load_tasks(folder):
        assert task.oracle.calls == () and task.oracle.script == "" and task.verifier.expected_answer


def test_without_the_extra_the_message_says_how(monkeypatch) -> None:
    import importlib.util

    from tasks.policies import require

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingTraining, match=r"pip install '\.\[train\]'"):
        require("torch")
