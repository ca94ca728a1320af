"""Start a training as a subprocess under `accelerate launch`, show its progress, and take in what it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from schemas.base import canonical_json, content_hash
from schemas.episode import TrainingRun
from tasks.policies import require
from tasks.training.config import LEASH, Progress, TrainingConfig
from tasks.training.examples import write_whole

_ROOT = Path(__file__).resolve().parents[2]


def _command(processes: int) -> list[str]:
    """Return the arguments of `accelerate launch`. Its way to several local processes is called multi_gpu also where
    they compute on the CPU, as `Accelerator(cpu=True)` in the training says."""
    kind = ["--cpu"] if processes == 1 else ["--multi_gpu", "--main_process_port", "0"]
    sizes = ["--num_processes", str(processes), "--num_machines", "1"]
    plain = ["--mixed_precision", "no", "--dynamo_backend", "no"]
    return ["-m", "accelerate.commands.launch", *kind, *sizes, *plain, "-m", "tasks.training.main"]


class TrainingFailed(RuntimeError):
    """Raised when the training process ends with an error; its last lines are in the message."""


@dataclass(frozen=True)
class TrainingOutcome:
    """A finished training: its checkpoint file, that file's bytes' hash inside the run's record, and the record."""

    checkpoint: Path
    run: TrainingRun


def launch_training(
    config: TrainingConfig,
    workdir: Path,
    on_progress: Callable[[Progress], None] | None = None,
    parent: bytes | None = None,
    parent_id: str = "",
) -> TrainingOutcome:
    """Run a training in its folder and wait for it. The folder must hold what the method needs: examples (SFT), or
    tasks, images and tools (GRPO). Launched again after a kill it goes on from its last checkpoint; launched again
    when finished it returns at once.

    `parent` is the checkpoint to start from; without it SFT starts from random weights.

    Raises:
        MissingTraining: without the training extra.
        TrainingFailed: if the process fails.
    """
    require("torch", "accelerate", "safetensors")
    workdir.mkdir(parents=True, exist_ok=True)
    if parent is not None:
        write_whole(workdir / "parent.safetensors", parent)
    path = workdir / "config.json"
    write_whole(path, canonical_json(config).encode())
    if not _is_finished(config, workdir):
        _run(config, path, on_progress)
    return _outcome(config, workdir, parent_id)


def _run(config: TrainingConfig, path: Path, on_progress: Callable[[Progress], None] | None) -> None:
    places = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(places),
        "OMP_NUM_THREADS": str(config.threads),
        "TOKENIZERS_PARALLELISM": "false",
        LEASH: "1",
    }
    errors = path.with_name("stderr.txt")
    with (
        errors.open("w") as log,
        subprocess.Popen(
            [sys.executable, *_command(config.processes), str(path)],
            stdin=subprocess.PIPE,  # never written to: it closes when this process ends, however it ends
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if on_progress is not None and (progress := _parse(line)) is not None:
                    on_progress(progress)
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if code:
        lines = errors.read_text(errors="replace").strip().splitlines()
        own = [line for line in lines if line.startswith(f"{path}:")]  # what `tasks.training.main` says, told once
        last = " / ".join(own[:1] or lines[-4:])
        raise TrainingFailed(f"training {config.run_id} ended with code {code}: {last}; launch it again to resume")


def _parse(line: str) -> Progress | None:
    try:
        return Progress.model_validate_json(line)
    except ValidationError:
        return None


def _is_finished(config: TrainingConfig, workdir: Path) -> bool:
    from tasks.policies.pointer.storage import read_state

    state = read_state(workdir / "checkpoint.safetensors")
    return bool(state) and state["finished"] and state["config_sha256"] == content_hash(config)


def _outcome(config: TrainingConfig, workdir: Path, parent_id: str) -> TrainingOutcome:
    from tasks.policies.pointer.storage import strip_optimizer, unpack_checkpoint

    path = workdir / "policy.safetensors"
    raw = strip_optimizer((workdir / "checkpoint.safetensors").read_bytes())
    write_whole(path, raw)
    checkpoint = unpack_checkpoint(raw)
    state = checkpoint.state
    run = TrainingRun(
        run_id=config.run_id,
        policy_id=config.policy_id,
        parent_id=parent_id,
        method=config.method,
        arm=config.arm,
        checkpoint_sha256=content_hash(raw),
        parameters=sum(part.numel() for part in checkpoint.network.parameters()),
        steps=state["step"],
        episodes=state["episodes"],
        seed=config.seed,
        cpu_seconds=state["cpu_seconds"],
        wall_seconds=state["wall_seconds"],
        curves=state["curves"],
        settings={**config.model_dump(mode="json"), "counts": state["counts"]},
    )
    return TrainingOutcome(path, run)
