"""Group-relative policy optimisation from verifier rewards alone, with rollouts in isolated sandbox copies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn import Module
from torch.optim import Optimizer

from schemas.episode import Trajectory
from schemas.task import AgentTask
from tasks.policies.pointer.batches import Batch, Decisions, collate
from tasks.policies.pointer.encoding import Encoded, encode
from tasks.policies.pointer.policy import PointerPolicy
from tasks.rollout import Attempt, ToolSignature, rollout
from tasks.sandbox import SandboxWorker
from tasks.training.checkpoints import TrainingState
from tasks.training.config import TrainingConfig
from tasks.training.examples import Signature, read_tools
from tasks.training.images import load_images, load_tasks
from tasks.training.loop import Loop, Start
from tasks.training.rewards import group_advantages

_MICRO_BATCH = 16


def train_grpo(config: TrainingConfig, workdir: Path) -> TrainingState:
    """Improve the folder's parent policy on its tasks; return the final state.

    Each round rolls every drawn task out `rollouts_a_task` times at temperature 1, and takes `updates` clipped
    steps on the decisions of groups whose rewards differ. Shao et al. 2024 (GRPO); clip and skipping of groups
    without variance as in Yu et al. 2025 (DAPO); no KL term.

    Raises:
        ValueError: if the folder has no tasks or no parent policy.
    """
    started = Start()
    torch.set_num_threads(config.threads)
    tasks, images, tools = load_tasks(workdir), load_images(workdir), read_tools(workdir)
    if not tasks:
        raise ValueError(f"{workdir}: no tasks to roll out")
    state = TrainingState.resume(config, workdir) or TrainingState.start(config, workdir, None)
    accelerator = Accelerator(cpu=True)
    network, optimizer = accelerator.prepare(state.network, state.optimizer)
    loop = Loop(state, workdir, started, accelerator)
    with SandboxWorker() as worker:
        while not state.finished:
            loop.set_learning_rate()
            rng = random.Random(f"{config.seed}/{state.step}")
            chosen = rng.sample(tasks, min(config.tasks_a_step, len(tasks)))
            attempts = [
                Attempt(task, images[task.env_id], rng.randrange(2**31), offered(task, tools))
                for task in chosen
                for _ in range(config.rollouts_a_task)
            ]
            policy = PointerPolicy(network, state.vocabulary, config.policy_id, config.temperature)
            trajectories = rollout(policy, attempts, max_calls=config.call_limit or None, workers=[worker])
            episodes, skipped = judge(chosen, trajectories, tools, config.rollouts_a_task)
            values = improve(state, accelerator, network, optimizer, episodes) if episodes else {}
            state.episodes += len(trajectories)
            state.counts["groups"] = state.counts.get("groups", 0) + len(chosen)
            state.counts["groups_without_variance"] = state.counts.get("groups_without_variance", 0) + skipped
            loop.finish_step(
                reward=fmean(t.reward for t in trajectories),
                success=fmean(t.success for t in trajectories),
                calls=fmean(t.calls for t in trajectories),
                skipped=skipped / len(chosen),
                **values,
            )
    return state


def offered(task: AgentTask, tools: dict[str, dict[str, Signature]]) -> tuple[ToolSignature, ...]:
    """Return the signatures of the tools that a task allows."""
    known = tools[task.env_id]
    return tuple(
        ToolSignature(known[name].name, known[name].description, known[name].parameters, known[name].kind)
        for name in task.tools
    )


def judge(
    tasks: Sequence[AgentTask], trajectories: Sequence[Trajectory], tools: dict[str, dict[str, Signature]], group: int
) -> tuple[list[Encoded], int]:
    """Return the encoded episodes of groups whose rewards differ, weighted by advantage, and how many groups were
    skipped."""
    episodes: list[Encoded] = []
    skipped = 0
    for index, task in enumerate(tasks):
        members = trajectories[index * group : (index + 1) * group]
        advantages = group_advantages([member.reward for member in members])
        if advantages is None:
            skipped += 1
            continue
        signatures = offered(task, tools)
        for member, advantage in zip(members, advantages, strict=True):
            episode = encode(task.prompt, signatures, task.verifier.answer, member.steps, member.answer)
            episode.advantage = advantage
            if len(episode.decisions):
                episodes.append(episode)
    return episodes, skipped


def improve(
    state: TrainingState, accelerator: Accelerator, network: Module, optimizer: Optimizer, episodes: list[Encoded]
) -> dict[str, float]:
    """Take the clipped steps of one round; return the mean loss, entropy and share of clipped ratios of the last."""
    config = state.config
    network.train()
    batches = _with_likelihoods(state, network, episodes)
    total = max(1, sum(int(decisions.chosen.any(-1).sum()) for _, decisions, _ in batches))
    values: dict[str, float] = {}
    for _ in range(config.updates):
        optimizer.zero_grad()
        values = {"loss": 0.0, "entropy": 0.0, "clipped": 0.0}
        for batch, decisions, before in batches:
            now, entropy = network(batch, decisions)
            made = decisions.chosen.any(-1)
            ratio = (now - before).exp()
            bounded = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
            loss = -torch.minimum(ratio * decisions.weights, bounded * decisions.weights)[made].sum() / total
            accelerator.backward(loss)
            values["loss"] += loss.item()
            values["entropy"] += entropy[made].sum().item() / total
            values["clipped"] += (ratio != bounded)[made].sum().item() / total
        accelerator.clip_grad_norm_(network.parameters(), config.gradient_limit)
        optimizer.step()
    network.eval()
    return values


def _with_likelihoods(
    state: TrainingState, network: Module, episodes: list[Encoded]
) -> list[tuple[Batch, Decisions, Tensor]]:
    """Return batches of episodes with the log-probabilities that the present policy gives to their decisions."""
    episodes = sorted(episodes, key=lambda episode: episode.length)
    seed = state.config.seed * 1_000_003 + state.step
    batches = []
    for start in range(0, len(episodes), _MICRO_BATCH):
        part = episodes[start : start + _MICRO_BATCH]
        batch, decisions = collate(part, state.vocabulary, state.network.config.slot, seed + start)
        with torch.no_grad():
            before, _ = network(batch, decisions)
        batches.append((batch, decisions, before))
    return batches
