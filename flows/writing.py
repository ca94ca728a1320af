"""Models that write tasks, judge texts and play users: which they are, and how far the judge agrees with the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.models import gateway, model_ids
from schemas.environment import Rejection
from schemas.settings import Settings
from tasks.models import Gateway, templates_hash
from tasks.store import list_keys, open_store, read_dataset, write_dataset

WRITING = (
    "author/retell", "author/goals", "author/solution", "author/verifier", "reviewer/chain", "reviewer/same",
    "judge/score",
)  # fmt: skip
ALL = "all"
EVERY = 3
"""Of the programs, every third is a goal of the model's own."""


def writing_models(settings: Settings) -> dict[str, Any]:
    """Return what synthesis needs to know of the models that write and judge, see `_models`."""
    return _models(settings, ("task_writer", "judge"), WRITING)


def user_models(settings: Settings) -> dict[str, Any]:
    """Return what an evaluation needs to know of the model that plays the users of tasks, see `_models`."""
    return _models(settings, ("user",), ("user/reply",))


def _models(settings: Settings, roles: Sequence[str], prompts: Sequence[str]) -> dict[str, Any]:
    """Return what a worker needs to know of the models of some roles, as JSON: {} where rules play them all.

    `key` is what results depend on, for cache keys; the rest opens the gateway.
    """
    ids = {role: name for role, name in model_ids(settings).items() if role in roles}
    if not ids:
        return {}
    key = {"ids": ids, "prompts": templates_hash(*prompts), "max_cost": settings.max_cost}
    return {"key": key, "models": settings.models, "max_cost": settings.max_cost, "run_id": _run_id()}


def open_gateway(store_uri: str, models: dict[str, Any]) -> Gateway | None:
    """Return the gateway of this worker, or None where rules play all the roles."""
    if not models:
        return None
    settings = Settings(models=models["models"], max_cost=models["max_cost"])
    return gateway(store_uri, settings, models["run_id"])


def with_goals(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return kinds of task in turn with every third program a goal of the model's own."""
    found: list[str] = []
    for kind in kinds if [*kinds].count("program") >= EVERY else [*kinds] * EVERY:
        programs = sum(other in ("program", "goal") for other in found) + 1
        found.append("goal" if kind == "program" and programs % EVERY == 0 else kind)
    return tuple(found)


def judge_rubrics(store_uri: str, env_id: str, notes: Sequence[Any], judge: Gateway | None) -> tuple[Rejection, ...]:
    """Have the judge's model, if there is one, score texts of rubric tasks; return what it failed on.

    Its verdicts and their agreement with the rules are written.
    """
    from tasks.synthesis import agreement, judge_notes

    if judge is None or not judge.has("judge") or not notes:
        return ()
    found = judge_notes(judge, notes)
    store = open_store(store_uri)
    write_dataset(store, "judge_verdicts", env_id, found.verdicts)
    write_dataset(store, "judge_agreement", env_id, agreement(found.verdicts, env_id))
    return found.rejections


def sum_agreement(store_uri: str) -> None:
    """Write the agreement over all judged sets, if there are any."""
    from tasks.synthesis import agreement

    store = open_store(store_uri)
    if list_keys(store, "judge_verdicts"):
        write_dataset(store, "judge_agreement", ALL, agreement(read_dataset(store, "judge_verdicts"), ALL))


def _run_id() -> str:
    from prefect.runtime import flow_run

    return str(flow_run.id or "")
