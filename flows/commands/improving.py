"""Train a policy, measure it, and go round: train, arena, evolve."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.commands.answers import answer, say
from flows.commands.options import (
    JsonOption,
    MaxCostOption,
    ModelsOption,
    QuickOption,
    SeedOption,
    StoreOption,
    like_built,
    settings_of,
    with_models,
)
from flows.runtime import DEFAULT_STORE

commands = typer.Typer()


@commands.command(epilog="Example: agentworld train --quick")
def train(
    store: StoreOption = DEFAULT_STORE, seed: SeedOption = None, quick: QuickOption = False, as_json: JsonOption = False
) -> None:
    """Train the policy: SFT on oracle trajectories, then GRPO beside an SFT arm of equal compute."""
    from flows.ready import need_environments, need_tasks, need_training

    need_training()
    need_environments(store)
    need_tasks(store)
    from flows.train import train as flow

    outcome = flow(store, like_built(store, settings_of(seed, quick)))
    answer(outcome, as_json, lambda: say(f"policy {outcome['policy_id']}; next: agentworld arena --store {store}"))


@commands.command(epilog="Example: agentworld arena")
def arena(
    store: StoreOption = DEFAULT_STORE, seed: SeedOption = None, quick: QuickOption = False, as_json: JsonOption = False
) -> None:
    """Evaluate the newest policy on unseen tasks and diagnose its weak environments."""
    from flows.ready import need_policy, need_training

    need_training()
    need_policy(store)
    from flows.arena import arena as flow

    outcome = flow(store, like_built(store, settings_of(seed, quick)))
    lines = [f"success {outcome['successes']} of {outcome['attempts']}", *outcome["weaknesses"]]
    answer(outcome, as_json, lambda: say(*lines, f"next: agentworld evolve --rounds 1 --store {store}"))


@commands.command(epilog="Example: agentworld evolve --rounds 2")
def evolve(
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of arena, diagnosis and regeneration")] = 1,
    store: StoreOption = DEFAULT_STORE,
    seed: SeedOption = None,
    quick: QuickOption = False,
    models: ModelsOption = None,
    max_cost: MaxCostOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go round: arena, diagnosis, regeneration, continued training beside its control, and the arena again."""
    from flows.ready import need_policy, need_training

    need_training()
    need_policy(store)
    settings = with_models(settings_of(seed, quick, models=models, max_cost=max_cost))
    from flows.regenerate import evolve as flow

    outcome = flow(store, like_built(store, settings), rounds)
    lines = [f"round {r['round']}: " + ", ".join(f"{k} {v:.1%}" for k, v in r["success"].items()) for r in outcome]
    answer(outcome, as_json, lambda: say(*lines, f"next: agentworld audit --store {store}"))
