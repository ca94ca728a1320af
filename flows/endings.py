"""Record how builds ended: an environment with all that belongs to it, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.runtime import cache_key
from flows.stages import get_records
from schemas.database import Database
from schemas.environment import Environment, Rejection
from schemas.research import Research
from schemas.theme import Provenance, Source, Theme
from schemas.tool import Tool, ToolTest
from tasks.store import commit_environment, environment_rows, get_blob, open_store, write_dataset
from tasks.store.datasets import dataset_key

MINIMUM_TOOLS = 8
"""An environment with fewer accepted tools is rejected."""


def commit(
    store_uri: str, theme: Theme, mined: dict[str, Any], coded: dict[str, Any], parent: Environment | None = None
) -> Environment:
    """Write the environment that a build made, or record it as rejected for its few tools; return its row.

    Args:
        parent: the environment that it is a grown version of.
    """
    store = open_store(store_uri)
    env_id = mined["env_id"]
    rejections = [Rejection.model_validate(r) for r in (*mined["rejections"], *coded["rejections"])]
    if "research" in mined:
        write_dataset(store, "research", env_id, get_records(store_uri, mined["research"], Research))
    few = f"{coded['n_tools']} accepted tools, at least {MINIMUM_TOOLS} are needed"
    if coded["n_tools"] < MINIMUM_TOOLS:
        rejections.append(Rejection(stage="build", key=env_id, gate="too_few_tools", reason=few, env_id=env_id))
    write_dataset(store, "rejections", f"build-{env_id if parent else theme.theme_id}", rejections)
    row = Environment(
        env_id=env_id,
        theme_id=theme.theme_id,
        name=mined["name"],
        category_l1=theme.category_l1,
        category_l2=theme.category_l2,
        state="accepted",
        build_key=cache_key("build", "1", mined, coded),
        lineage=parent.env_id if parent else "",
        split=parent.split if parent else "",
        sandbox=coded["sandbox"],
    )
    if coded["n_tools"] < MINIMUM_TOOLS:
        row = row.model_copy(update={"state": "rejected", "reason": few})
        write_dataset(store, "environments", env_id, [row])
        return row
    if parent is None:
        store.delete(dataset_key("environments", unbuilt_id(theme)))
    return commit_environment(
        store,
        row,
        Database.model_validate_json(get_blob(store, coded["database"])),
        get_blob(store, mined["snapshot"]),
        get_records(store_uri, coded["tools"], Tool),
        get_records(store_uri, coded["tests"], ToolTest),
        get_records(store_uri, mined["provenance"], Provenance),
        get_records(store_uri, mined["sources"], Source),
    )


def unbuilt_id(theme: Theme) -> str:
    """Return the id under which a build is recorded that ended without an environment."""
    return f"{theme.theme_id}-unbuilt"


def not_built(store_uri: str, theme: Theme, state: str, reason: str, rejections: Sequence[Rejection]) -> Environment:
    """Record a build that ended without an environment, under the theme's id; an older accepted one stays."""
    store = open_store(store_uri)
    row = Environment(
        env_id=unbuilt_id(theme),
        theme_id=theme.theme_id,
        name=theme.name,
        category_l1=theme.category_l1,
        category_l2=theme.category_l2,
        state=state,
        reason=reason,
    )
    write_dataset(store, "rejections", f"build-{theme.theme_id}", rejections)
    older = [r for r in environment_rows(store, "accepted") if r.theme_id == theme.theme_id and not r.lineage]
    if not older:
        write_dataset(store, "environments", row.env_id, [row])
    return row
