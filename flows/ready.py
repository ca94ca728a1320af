"""What a command needs before it can begin: one sentence at once, instead of a failure after a long start."""

from __future__ import annotations

from flows.errors import Refused
from tasks.policies import MissingTraining, require
from tasks.store import environment_rows, list_keys, open_store, read_dataset
from tasks.store.datasets import dataset_key


def need_training() -> None:
    """Check that this machine can train and run trained policies.

    Raises:
        Refused: saying what is not installed and how to install it.
    """
    try:
        require("torch", "accelerate", "safetensors")
    except MissingTraining as error:
        raise Refused(str(error)) from None


def need_themes(store_uri: str) -> None:
    """Check that the store has themes.

    Raises:
        Refused: if it has none, saying what to run first.
    """
    store = open_store(store_uri)
    if not (store.exists(dataset_key("themes", "all")) and read_dataset(store, "themes", "all")):
        raise Refused(f"no themes in {store.uri}: run `agentworld discover --store {store_uri}` first")


def need_environments(store_uri: str) -> None:
    """Check that the store has an accepted environment that tasks are made for (those of split test are not).

    Raises:
        Refused: if it has none, saying what to run first.
    """
    store = open_store(store_uri)
    if not any(row.split != "test" for row in environment_rows(store, "accepted")):
        raise Refused(f"no accepted environments in {store.uri}: run `agentworld build --store {store_uri}` first")


def need_tasks(store_uri: str) -> None:
    """Check that the store has accepted tasks.

    Raises:
        Refused: if it has none, saying what to run first.
    """
    store = open_store(store_uri)
    if all(key.startswith("practice") for key in list_keys(store, "agent_tasks")):
        need_environments(store_uri)
        raise Refused(f"no accepted tasks in {store.uri}: run `agentworld synthesize --store {store_uri}` first")


def need_policy(store_uri: str) -> None:
    """Check that the store has tasks and a trained policy.

    Raises:
        Refused: if either is missing, saying what to run first.
    """
    from flows.policies import CURRENT

    need_tasks(store_uri)
    store = open_store(store_uri)
    if not store.exists(CURRENT):
        raise Refused(f"no policy in {store.uri} yet: run `agentworld train --store {store_uri}` first")
