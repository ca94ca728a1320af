"""Group-relative policy optimisation from verifier rewards alone, with rollouts in isolated sandbox copies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import torch
from accelerate import Accelerator
from torch import Tensor

from schemas.episode import Trajectory
from schemas.task import AgentTask
from tasks.policies.pointer.batches import collate
from tasks.policies.pointer.encoding import Encoded, encode
from tasks.policies.pointer.network import log_likelihood
from tasks.policies.pointer.policy import PointerPolicy
from tasks.rollout import Attempt, rollout
from tasks.training.checkpoints import TrainingState
from tasks.training.config import TrainingConfig
from tasks.training.examples import Signature, read_tools
from tasks.training.images import load_images, load_tasks
from tasks.training.loop import Loop
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
    torch.set_num_threads(config.threads)
    tasks, images, tools = load_tasks(workdir), load_images(workdir), read_tools(workdir)
    if not tasks:
        raise ValueError(f"{workdir}: no tasks to roll out")
    state = TrainingState.resume(config, workdir) or TrainingState.start(config, workdir, None)
    accelerator = Accelerator(cpu=True)
    network, optimizer = accelerator.prepare(state.network, state.optimizer)
    loop = Loop(state, workdir)
    while not state.finished:
        loop.set_learning_rate()
        rng = random.Random(f"{config.seed}/{state.step}")
        chosen = [task for task in rng.sample(tasks, min(config.tasks_a_step, len(tasks)))]
        attempts = [
            Attempt(task, images[task.env_id], seed=rng.randrange(2**31))
            for task in chosen
            for _ in range(config.rollouts_a_task)
        ]
        policy = PointerPolicy(network, state.vocabulary, config.policy_id, config.temperature)
        trajectories = rollout(policy, attempts, max_calls=config.call_limit or None)
        network.train()
        episodes, skipped = judge(chosen, trajectories, tools, config.rollouts_a_task)
        loss, entropy, clipped = 0.0, 0.0, 0.0
        if episodes:
            batches = prepare(network, episodes, state, config.seed * 1_000_003 + state.step)
            for _ in range(config.updates):
                optimizer.zero_grad()
                parts = [surrogate(network, *part, config) for part in batches]
                total = sum(part[3] for part in parts)
                for objective, *_ in parts:
                    accelerator.backward(-objective / total, retain_graph=False)
                accelerator.clip_grad_norm_(network.parameters(), config.gradient_limit)
                optimizer.step()
                loss = -sum(part[0].item() for part in parts) / total
                entropy = sum(part[1] for part in parts) / total
                clipped = sum(part[2] for part in parts) / total
        state.episodes += len(trajectories)
        state.counts["groups"] = state.counts.get("groups", 0) + len(chosen)
        state.counts["groups_without_variance"] = state.counts.get("groups_without_variance", 0) + skipped
        loop.finish_step(
            loss=loss,
            entropy=entropy,
            reward=fmean(t.reward for t in trajectories),
            success=fmean(t.success for t in trajectories),
            calls=fmean(t.calls for t in trajectories),
            clipped=clipped,
            skipped=skipped / len(chosen),
        )
    return state


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
        offered = [tools[task.env_id][name] for name in task.tools]
        for member, advantage in zip(members, advantages, strict=True):
            episode = encode(task.prompt, offered, task.verifier.answer, member.steps, member.answer)
            episode.advantage = advantage
            if len(episode.decisions):
                episodes.append(episode)
    return episodes, skipped


def prepare(network: torch.nn.Module, episodes: list[Encoded], state: TrainingState, seed: int) -> list[tuple]:
    """Return batches of episodes with the log-probabilities that the present policy gives to their decisions."""
    episodes = sorted(episodes, key=lambda episode: episode.length)
    batches = []
    for start in range(0, len(episodes), _MICRO_BATCH):
        part = episodes[start : start + _MICRO_BATCH]
        batch, decisions = collate(part, state.vocabulary, network.config.slot, seed + start)
        with torch.no_grad():
            before, _ = log_likelihood(network, batch, decisions)
        batches.append((batch, decisions, before))
    return batches


def surrogate(
    network: torch.nn.Module, batch, decisions, before: Tensor, config: TrainingConfig
) -> tuple[Tensor, float, float, int]:
    """Return the clipped objective summed over decisions, the entropy's sum, how many ratios were clipped, and the
    number of decisions."""
    now, entropy = log_likelihood(network, batch, decisions)
    advantage = decisions.weights
    ratio = (now - before).exp()
    bounded = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
    made = decisions.chosen.any(-1)
    objective = torch.minimum(ratio * advantage, bounded * advantage)[made].sum()
    return objective, entropy[made].sum().item(), (ratio != bounded)[made].float().sum().item(), int(made.sum())
