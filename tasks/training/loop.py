"""What SFT and GRPO share: the clock, the schedule, checkpoints and progress lines."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import torch
from accelerate import Accelerator

from tasks.training.checkpoints import TrainingState
from tasks.training.config import Progress


class Start:
    """When a process began to work on a training: the clocks of CPU and wall seconds."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.monotonic()


class Loop:
    """Counts steps and seconds of one training and says when to stop."""

    def __init__(self, state: TrainingState, workdir: Path, started: Start, accelerator: Accelerator) -> None:
        self.state, self.workdir, self.config = state, workdir, state.config
        self._accelerator = accelerator
        self._cpu, self._wall = started.cpu, started.wall

    def clock(self) -> None:
        """Add the time since the last call to the state: CPU seconds of all processes, so that all stop together."""
        cpu, wall = time.process_time(), time.monotonic()
        spent = torch.tensor(cpu - self._cpu, dtype=torch.float64)
        self.state.cpu_seconds += float(self._accelerator.reduce(spent, "sum"))
        self.state.wall_seconds += wall - self._wall
        self._cpu, self._wall = cpu, wall

    def progress(self) -> float:
        """Return how much of the training is done, 0 to 1, by steps or by CPU time, whichever is further."""
        done = self.state.step / self.config.steps
        if self.config.max_cpu_seconds:
            done = max(done, self.state.cpu_seconds / self.config.max_cpu_seconds)
        return min(1.0, done)

    def set_learning_rate(self) -> None:
        """Warm up, then follow a cosine down to the floor."""
        warm = min(1.0, (self.state.step + 1) / max(1, self.config.warmup))
        cosine = 0.5 * (1 + math.cos(math.pi * self.progress()))
        rate = self.config.learning_rate * warm * (self.config.floor + (1 - self.config.floor) * cosine)
        for group in self.state.optimizer.param_groups:
            group["lr"] = rate

    def finish_step(self, **values: float) -> None:
        """Count a step; record its values when due; the main process prints them, and writes a checkpoint when due."""
        state, config = self.state, self.config
        state.step += 1
        self.clock()
        done = self.progress() >= 1.0
        if state.step % config.log_every == 0 or done or state.step == 1:
            state.log(step=state.step, **values)
            line = Progress(
                step=state.step,
                steps=config.steps,
                cpu_seconds=round(state.cpu_seconds, 3),
                loss=values.get("loss"),
                reward=values.get("reward"),
                entropy=values.get("entropy"),
                values={k: v for k, v in values.items() if k not in ("loss", "reward", "entropy")},
            )
            if self._accelerator.is_main_process:
                print(line.model_dump_json(), flush=True, file=sys.stdout)
        state.finished = done
        if self._accelerator.is_main_process and (done or state.step % config.checkpoint_every == 0):
            state.save(self.workdir)
