"""What the models of a run will cost, said before it is begun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from flows.discover import selected_themes
from flows.errors import Refused
from flows.models import roles_of
from schemas.models import ModelCall, ModelChoice
from schemas.settings import Settings
from schemas.task import RUBRIC
from tasks.models.prices import price_of, table_version
from tasks.models.spending import spent
from tasks.store import environment_rows, list_keys, open_store, read_dataset

Unit = Literal["environment", "task"]


class Use(NamedTuple):
    """What a role uses for one unit of its work: calls, and tokens read and written in all of them."""

    per: Unit
    calls: float
    prompt_tokens: float
    completion_tokens: float


ASSUMED: dict[str, Use] = {
    "researcher": Use("environment", 60, 480_000, 24_000),
    "coder": Use("environment", 30, 150_000, 36_000),
    "tester": Use("environment", 15, 60_000, 18_000),
    "task_writer": Use("task", 2, 6_000, 700),
    "judge": Use("task", 2, 2_400, 250),
    "user": Use("task", 0.5, 1_000, 50),
}
"""What is assumed of a role until this store has measured calls of it: an agent of 60 steps whose history grows to some
8,000 tokens, ten tools an environment at three calls each, two of three tasks told anew and read twice, every ninth a
goal of the model's own, fifteen texts to judge for every fiftieth, every tenth with a user who speaks five times."""


def estimate(store_uri: str, settings: Settings) -> dict[str, Any]:
    """Return {roles: a row each, usd, unknown: models without a price, paid_usd, prices: the table's version}.

    A role's row is {role, model, per, units, answered, calls, prompt_tokens, completion_tokens, usd, basis}. Units
    (environments, tasks) that the same model has answered for already, in this store, are `answered`: their calls are
    in the cache and cost nothing, unless their inputs have changed.

    Raises:
        Refused: if the configuration of models cannot be used, or the store has no themes to count.
    """
    store = open_store(store_uri)
    calls: list[ModelCall] = [call for call in read_dataset(store, "model_calls") if not call.cached]
    choices = roles_of(settings, need_keys=False).choices
    rows = [_row(store_uri, role, choice, settings, calls) for role, choice in choices.items()]
    known = [row["usd"] for row in rows if row["usd"] is not None]
    return {
        "roles": rows,
        "usd": round(sum(known), 4),
        "unknown": sorted({row["model"] for row in rows if row["usd"] is None}),
        "paid_usd": round(spent(store).paid, 4),
        "prices": table_version(),
    }


def _row(
    store_uri: str, role: str, choice: ModelChoice, settings: Settings, calls: Sequence[ModelCall]
) -> dict[str, Any]:
    use, basis = _use(store_uri, role, [call for call in calls if call.role == role])
    mine = {call.env_id for call in calls if (call.role, call.model) == (role, choice.model) and call.env_id}
    units, answered = _units(store_uri, use.per, settings, mine)
    left = max(0, units - answered)
    read, written = round(left * use.prompt_tokens), round(left * use.completion_tokens)
    usd = price_of(choice, read, written).usd
    return {
        "role": role,
        "model": choice.model,
        "per": use.per,
        "units": units,
        "answered": answered,
        "calls": round(left * use.calls),
        "prompt_tokens": read,
        "completion_tokens": written,
        "usd": None if usd is None else round(usd, 4),
        "basis": basis,
    }


def _use(store_uri: str, role: str, calls: Sequence[ModelCall]) -> tuple[Use, str]:
    """Return what the role uses for one unit, measured where this store has calls of it, and on what that is based."""
    per = ASSUMED[role].per
    environments = {call.env_id for call in calls}
    units = len(environments) if per == "environment" else _tasks_of(store_uri, environments)
    if not calls or not units:
        return ASSUMED[role], "assumed"
    read, written = sum(c.prompt_tokens for c in calls), sum(c.completion_tokens for c in calls)
    return Use(per, len(calls) / units, read / units, written / units), f"measured on {units} {per}s"


def _tasks_of(store_uri: str, env_ids: set[str]) -> int:
    """Return how many stored tasks environments have, practice and free texts aside."""
    store = open_store(store_uri)
    keys = [key for key in list_keys(store, "agent_tasks") if key.rpartition("/")[2] in env_ids]
    keys = [key for key in keys if not key.startswith(("practice", RUBRIC))]
    return sum(len(read_dataset(store, "agent_tasks", key)) for key in keys)


def _units(store_uri: str, per: Unit, settings: Settings, answered_for: set[str]) -> tuple[int, int]:
    """Return how many units the settings ask for, and for how many of them the model has answered already."""
    store = open_store(store_uri)
    themes: set[str] = set()
    if list_keys(store, "themes"):
        themes = {theme.theme_id for theme in selected_themes(store_uri, settings)}
    elif not settings.environments:
        raise Refused(f"{store.uri} has no themes to count: run `agentworld discover`, or say --environments N")
    count = len(themes) or settings.environments
    if per == "environment":
        done = {row.theme_id for row in environment_rows(store, "accepted") if row.env_id in answered_for}
        return count, len(themes & (done | answered_for))
    wanted = _wanted_tasks(store_uri, settings, count)
    return wanted, min(wanted, _tasks_of(store_uri, answered_for))


def _wanted_tasks(store_uri: str, settings: Settings, count: int) -> int:
    """Return how many tasks synthesis asks for: of the environments of the store, if it has all `count`; else of a set
    with environments of every split."""
    rows = environment_rows(open_store(store_uri), "accepted")
    if rows and len(rows) >= count:
        from flows.synthesize import wanted_uses  # Prefect comes with it

        uses = wanted_uses(rows, settings).values()
        return sum(number for wanted in uses for use, number in wanted.items() if use != RUBRIC)
    return (
        settings.train_tasks
        + settings.rl_tasks
        + settings.development_tasks
        + settings.diagnosis_tasks
        + settings.arena_tasks
    )


def lines(found: dict[str, Any]) -> list[str]:
    """Return the estimate for people."""
    if not found["roles"]:
        return ["no role has a model: rules play them all, and a run costs nothing; name models with --models FILE"]
    told = []
    for row in found["roles"]:
        usd = "price unknown" if row["usd"] is None else f"{row['usd']:.2f} USD"
        work = f"{row['units'] - row['answered']} {row['per']}s"
        if row["answered"]:
            work += f" (and {row['answered']} answered for already)"
        tokens = f"{row['prompt_tokens']:,} + {row['completion_tokens']:,} tokens"
        told.append(f"{row['role']:<12} {usd:>14}  {row['calls']:>6} calls, {tokens}, {work}, {row['basis']}")
        told[-1] += f": {row['model']}"
    total = f"{found['usd']:.2f} USD in all, after {found['paid_usd']:.2f} USD that this store has paid; "
    told.append(f"{total}prices: roles file, else {found['prices']}")
    if found["unknown"]:
        told.append(f"not counted, for want of a price: {', '.join(found['unknown'])}; give one in the roles file")
    return told
