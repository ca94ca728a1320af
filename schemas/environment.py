"""The commit record of an environment: written last, it names by hash all that belongs to it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record


class Environment(Record):
    """One row of `environments`. A reader starts here; state 'accepted' promises that all it names is stored."""

    env_id: str
    theme_id: str
    name: str
    category_l1: str = ""
    category_l2: str = ""
    state: Literal["accepted", "rejected", "failed"]
    reason: str = ""
    snapshot_sha256: str = ""
    database_sha256: str = Field(default="", description="content hash of the Database record")
    tools_sha256: str = Field(default="", description="content hash of the list of Tool records")
    n_tables: int = 0
    n_rows: int = 0
    n_documents: int = 0
    n_tools: int = 0
    authors: tuple[str, ...] = Field(default=(), description="who wrote its tools: 'rules', models' ids, a release")
    build_key: str = Field(default="", description="the cache key of the build: inputs, stage versions, seed")
    sandbox: str = Field(default="", description="the sandbox strength that its tests ran under")
    lineage: str = Field(default="", description="env_id of the environment that this one was regenerated from")
    split: Literal["train", "development", "held_out", "test", ""] = Field(
        default="", description="'test': imported for measuring only, never trained on"
    )
    origin: Literal["mined", "agent-world", "tau2"] = "mined"


class Rejection(Record):
    """Why something was not kept; nothing is dropped without one."""

    stage: str
    key: str = Field(description="what was rejected: theme id, env id, tool, task candidate, row")
    gate: str = Field(description="the check that said no, snake case")
    reason: str
    env_id: str = ""
