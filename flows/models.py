"""The models of a run: read from its settings, limited by Prefect, and made anew in each worker process.

Prefect's global concurrency limits with these names hold for all processes that use the server of PREFECT_API_URL:
`agentworld-models` (all calls under way) and `agentworld-model-<provider>-<name>` (those of one model); the same names
with `-rate` at the end, created with a slot decay, bound calls a second. A limit that nobody created limits nothing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Iterator

from flows.errors import Refused
from schemas.settings import Settings
from tasks.models import Gateway, Roles, RolesError, Slot, load_roles, no_slot
from tasks.store import open_store

ALL_CALLS = "agentworld-models"


def roles_of(settings: Settings, *, need_keys: bool = True) -> Roles:
    """Return which models the settings (or AGENTWORLD_MODELS) and the variables AGENTWORLD_MODEL_* give to which roles.

    Raises:
        Refused: if the configuration cannot be used.
    """
    try:
        return load_roles(settings.models or os.environ.get("AGENTWORLD_MODELS"), os.environ, need_keys=need_keys)
    except RolesError as error:
        raise Refused(str(error)) from error


def model_ids(settings: Settings) -> dict[str, str]:
    """Return role -> the id of its model, for the roles that have one; part of cache keys and of a run's inputs."""
    from tasks.models.gateway import choice_id

    return {role: choice_id(choice) for role, choice in roles_of(settings, need_keys=False).choices.items()}


def check_models(settings: Settings) -> None:
    """Check, before any work, that the models can be opened and that a cap on money can be kept.

    Raises:
        Refused: if not; the message says what to do.
    """
    from tasks.models.endpoint import open_model
    from tasks.models.prices import price_of

    roles = roles_of(settings)
    for role, choice in roles.choices.items():
        try:
            open_model(choice, roles.key(role))
        except RolesError as error:
            raise Refused(f"{role}: {error}") from error
        if settings.max_cost is not None and price_of(choice, 1, 1).usd is None:
            raise Refused(
                f"--max-cost cannot be kept: the price of {choice.model} ({role}) is unknown; give "
                "input_usd_per_million and output_usd_per_million in the roles file (0 for a model of your own)"
            )


def gateway(store_uri: str, settings: Settings, run_id: str = "") -> Gateway:
    """Return the gateway of this process. Make it where it is used: it holds connections, and reads keys from the
    environment of the process.

    Raises:
        Refused: if the configuration of models cannot be used.
        StoreError: if the store cannot be used.
    """
    return Gateway(
        roles_of(settings), open_store(store_uri), max_cost_usd=settings.max_cost, slot=slot(), run_id=run_id
    )


def calls_so_far(store_uri: str, settings: Settings) -> Callable[[], str] | None:
    """Return what tells how many answers models have given since now, and what they cost; None if there are none."""
    from tasks.models.answers import ANSWERS
    from tasks.models.spending import spent

    if not model_ids(settings):
        return None
    store = open_store(store_uri)
    answers, paid = sum(1 for _ in store.list(ANSWERS)), spent(store).paid

    def told() -> str:
        count = sum(1 for _ in store.list(ANSWERS)) - answers
        return f"{count} answers of models, {spent(store).paid - paid:.4f} USD"

    return told


def limit_names(model_id: str) -> list[str]:
    """Return the names of the concurrency limits that a call of a model takes a slot of."""
    return [ALL_CALLS, f"agentworld-model-{re.sub(r'[^A-Za-z0-9.]+', '-', model_id).strip('-')}"]


def slot() -> Slot:
    """Return what limits calls: Prefect, where a server is named. A temporary server has no limits, and a worker
    process would start one of its own to ask."""
    return prefect_slot if os.environ.get("PREFECT_API_URL") else no_slot


@contextlib.contextmanager
def prefect_slot(model_id: str) -> Iterator[None]:
    """Hold a slot of each of the model's limits while the block runs."""
    from flows.runtime import configure

    configure()
    from prefect.concurrency.sync import concurrency, rate_limit

    logging.getLogger("prefect.concurrency").setLevel(logging.ERROR)  # it would tell of every limit that is not there
    names = limit_names(model_id)
    rate_limit([f"{name}-rate" for name in names])
    with concurrency(names):
        yield
