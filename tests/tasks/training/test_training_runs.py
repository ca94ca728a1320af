"""A real, tiny training: it learns, survives a kill, and improves from rewards alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.environment import EnvironmentImage
from tasks.policies import load_policy
from tasks.rollout import Attempt, ToolSignature, rollout
from tasks.training import TrainingConfig, TrainingFailed, launch_training
from tasks.training.examples import EXAMPLES

torch = pytest.importorskip("torch")
from tasks.policies.pointer.storage import read_state  # noqa: E402
from tasks.training.encoded import ExampleStream  # noqa: E402


def config(**changes) -> TrainingConfig:
    """Settings of a training of seconds."""
    base = {
        "method": "sft", "run_id": "run", "policy_id": "tiny", "steps": 12, "batch": 4, "threads": 1,
        "checkpoint_every": 4, "log_every": 1, "warmup": 4, "width": 48, "layers": 1,
    }  # fmt: skip
    return TrainingConfig(**(base | changes))


@pytest.fixture(scope="module")
def trained(shop, tmp_path_factory):
    """A policy after twelve steps of SFT, launched as a user would."""
    from tasks.training import prepare_sft

    database, _, tools, pairs = shop
    workdir = tmp_path_factory.mktemp("sft")
    prepare_sft(pairs, {database.env_id: tools}, workdir)
    seen = []
    outcome = launch_training(config(), workdir, seen.append)
    return workdir, outcome, seen


def test_sft_learns_and_reports(trained) -> None:
    _, outcome, seen = trained
    assert [line.step for line in seen] == list(range(1, 13))
    losses = outcome.run.curves["loss"]
    assert len(losses) == 12 and losses[-1] < 0.7 * losses[0]
    assert outcome.run.steps == 12 and outcome.run.episodes == 48 and outcome.run.cpu_seconds > 0
    assert outcome.run.settings["counts"]["covered"] > 0.95 * outcome.run.settings["counts"]["decisions"]


def test_a_finished_training_is_not_run_again(trained) -> None:
    workdir, outcome, _ = trained
    seen = []
    again = launch_training(config(), workdir, seen.append)
    assert seen == [] and again.run == outcome.run


def test_resumed_after_a_kill_equals_uninterrupted(trained, shop, tmp_path: Path) -> None:
    from tasks.training import prepare_sft

    database, _, tools, pairs = shop
    prepare_sft(pairs, {database.env_id: tools}, tmp_path)
    path = tmp_path / "config.json"
    path.write_text(config().model_dump_json())
    with subprocess.Popen(
        [sys.executable, "-m", "tasks.training.main", str(path)], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3]), "OMP_NUM_THREADS": "1"},
    ) as process:  # fmt: skip
        for line in process.stdout:
            if '"step":6,' in line:
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    begun = read_state(tmp_path / "checkpoint.safetensors")
    assert 4 <= begun["step"] < 12 and not begun["finished"]
    seen = []
    resumed = launch_training(config(), tmp_path, seen.append)
    assert seen[0].step == begun["step"] + 1 and seen[-1].step == 12
    whole = load_policy(trained[1].checkpoint).network.state_dict()
    for name, part in load_policy(resumed.checkpoint).network.state_dict().items():
        assert torch.equal(part, whole[name]), name


def test_two_processes_share_each_step(shop, tmp_path: Path) -> None:
    from tasks.training import prepare_sft

    database, _, tools, pairs = shop
    prepare_sft(pairs, {database.env_id: tools}, tmp_path)
    seen = []
    shared = config(processes=2, batch=2, steps=6)
    outcome = launch_training(shared, tmp_path, seen.append)
    assert [line.step for line in seen] == list(range(1, 7)), "one process reports, the other is silent"
    assert outcome.run.episodes == 6 * 2 * 2 and outcome.run.curves["loss"][-1] < outcome.run.curves["loss"][0]
    parts = [set(ExampleStream(tmp_path, shared, rank=rank).draw(3)) for rank in (0, 1)]
    assert not parts[0] & parts[1]
    (tmp_path / EXAMPLES).unlink()
    with pytest.raises(TrainingFailed, match=EXAMPLES):
        launch_training(shared.model_copy(update={"run_id": "again"}), tmp_path)


def test_grpo_needs_no_oracle(trained, folder: Path) -> None:
    (folder / EXAMPLES).unlink()
    parent = trained[1].checkpoint.read_bytes()
    settings = config(
        method="grpo", steps=2, tasks_a_step=3, rollouts_a_task=4, learning_rate=1e-3, call_limit=4, arm="rl"
    )
    outcome = launch_training(settings, folder, parent=parent, parent_id="tiny")
    assert outcome.run.episodes == 24 and outcome.run.parent_id == "tiny"
    assert set(outcome.run.curves) >= {"step", "reward", "success", "skipped"}
    assert outcome.run.settings["counts"]["groups"] == 6
    assert (
        '"script":""' in (folder / "tasks.jsonl").read_text() and '"calls":[]' in (folder / "tasks.jsonl").read_text()
    )


def test_policy_acts_in_the_sandbox(trained, shop) -> None:
    database, snapshot, tools, pairs = shop
    image = EnvironmentImage.of(database, tools, snapshot)
    signatures = tuple(ToolSignature.of(tool) for tool in tools)
    attempts = [Attempt(task, image, seed, signatures) for seed, (task, _) in enumerate(pairs[:8])]
    first = rollout(load_policy(trained[0]), attempts)
    assert first == rollout(load_policy(trained[0]), attempts)
    invalid = [s for t in first for s in t.steps if s.observation.get("error", {}).get("code") == "INVALID_ARGUMENTS"]
    assert invalid == []


def test_unusable_folder_is_one_clear_error(tmp_path: Path, capsys) -> None:
    from tasks.training.main import main

    path = tmp_path / "config.json"
    path.write_text(config().model_dump_json())
    assert main([str(path)]) == 2
    assert "tools.json" in capsys.readouterr().err
    path.write_text(config().model_dump_json().replace('"sft"', '"guess"'))
    assert main([str(path)]) == 2
    assert "method" in capsys.readouterr().err
