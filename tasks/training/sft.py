"""Supervised fine-tuning: imitate the decisions of oracle episodes."""

from __future__ import annotations

from pathlib import Path

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from tasks.policies.pointer.batches import Decisions, collate
from tasks.policies.pointer.history import OMIT_PLACE
from tasks.policies.pointer.session import Head
from tasks.training.checkpoints import PARENT, TrainingState
from tasks.training.config import TrainingConfig
from tasks.training.encoded import ExampleStream
from tasks.training.loop import Loop, Start

_SUMS = ("loss", "weight", "entropy", "decisions_made")


def train_sft(config: TrainingConfig, workdir: Path) -> TrainingState:
    """Train on the folder's examples until the steps or the CPU seconds are used up; return the final state.

    One forward over a whole episode gives the loss of all its decisions: -log of the probability that the pointer
    gives to all positions that mean what the oracle did. Words get new slots in every batch.

    Raises:
        FileNotFoundError, ValueError: if there are no examples.
    """
    started = Start()
    torch.set_num_threads(config.threads)
    accelerator = Accelerator(cpu=True)
    rank = accelerator.process_index
    stream = ExampleStream(workdir, config, not (workdir / PARENT).exists(), rank)
    state = TrainingState.resume(config, workdir)
    if state is None:
        state = TrainingState.start(config, workdir, stream.vocabulary)
    if state.finished:
        return state
    network = accelerator.prepare_model(state.network, evaluation_mode=True)  # not wrapped: gradients are summed below
    optimizer = accelerator.prepare_optimizer(state.optimizer)
    loop = Loop(state, workdir, started, accelerator)
    network.train()
    for encoded in stream.batches(state.step):
        loop.set_learning_rate()
        optimizer.zero_grad()
        sums = dict.fromkeys((*_SUMS, *encoded.counts), 0.0)
        sums |= encoded.counts | {"shown": len(encoded.episodes)}
        if encoded.episodes:
            seed = (config.seed * 1_000_003 + state.step) * config.processes + rank
            batch, decisions = collate(encoded.episodes, state.vocabulary, state.network.config.slot, seed)
            likelihood, entropy = network(batch, decisions)
            made = decisions.weights > 0
            emphasis = emphasised(decisions)
            loss = -(likelihood * emphasis).sum()
            accelerator.backward(loss)
            sums |= {"loss": loss.item(), "weight": emphasis.sum().item()}
            sums |= {"entropy": entropy[made].sum().item(), "decisions_made": float(made.sum())}
        sums = add_up(accelerator, network, sums)
        if sums["weight"]:
            accelerator.clip_grad_norm_(network.parameters(), config.gradient_limit)
            optimizer.step()
            state.episodes += round(sums["shown"])
        for name in encoded.counts:
            state.counts[name] = state.counts.get(name, 0) + round(sums[name])
        loop.finish_step(
            loss=sums["loss"] / max(sums["weight"], 1e-9),
            entropy=sums["entropy"] / max(sums["decisions_made"], 1.0),
        )
        if state.finished:
            break
    return state


def add_up(accelerator: Accelerator, network: nn.Module, sums: dict[str, float]) -> dict[str, float]:
    """Add up gradients and sums over all processes; return the sums. Gradients are divided by the sum "weight", so
    that the step is that of one process with all the episodes."""
    parameters = list(network.parameters())
    parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    names = sorted(sums)
    told = torch.tensor([sums[name] for name in names], dtype=torch.float64)
    if accelerator.num_processes > 1:
        flat = accelerator.reduce(torch.cat([part.flatten() for part in parts]), "sum")
        told = accelerator.reduce(told, "sum")
        parts = [piece.view_as(part) for piece, part in zip(flat.split([p.numel() for p in parts]), parts, strict=True)]
    total = dict(zip(names, told.tolist(), strict=True))
    for parameter, part in zip(parameters, parts, strict=True):
        parameter.grad = part / max(total["weight"], 1e-9)
    return total


def emphasised(decisions: Decisions) -> Tensor:
    """Return the weight of each decision in the loss (B x D): which tool most, left-out arguments least.

    Four arguments in five are left out and soon easy; unweighted, they would hide the choices that matter.
    """
    weights = torch.tensor([2.0, 1.5, 1.5])[decisions.heads]
    left_out = (decisions.heads == Head.ARGUMENT) & decisions.chosen[..., OMIT_PLACE]
    return torch.where(left_out, 0.4, weights) * decisions.weights
