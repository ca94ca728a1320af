"""An environment image: all that a worker needs to run episodes of one environment."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from schemas.database import Database
from schemas.tool import Tool
from tasks.environment.runtime.files.engine import CODE, FILES, LAYOUT


@dataclass(frozen=True)
class EnvironmentImage:
    """The snapshot's bytes and the tools' sources and schemas of one environment.

    Attributes:
        env_id: the environment.
        snapshot: the initial state, the bytes of a SQLite file.
        tools: tool name -> the source of a module that defines a function of that name.
        schemas: tool name -> JSON Schema of its arguments.
        log_tables: tables that the state difference leaves out.
        start_time: where every episode's clock stands, "YYYY-MM-DDTHH:MM:SS".
        writes: names of the tools that may write; None: all may.
        foreign: some tool was written by a model or imported: a weak sandbox refuses it, and none of its episodes
            shares a process with another. False only where every tool is known to be made by rules.
        ours: names of the tools that rules made.
    """

    env_id: str
    snapshot: bytes = field(repr=False)
    tools: dict[str, str] = field(repr=False)
    schemas: dict[str, dict[str, Any]] = field(repr=False)
    log_tables: tuple[str, ...] = ()
    start_time: str = "2026-01-01T00:00:00"
    writes: tuple[str, ...] | None = None
    foreign: bool = True
    ours: tuple[str, ...] = ()

    @classmethod
    def of(cls, database: Database, tools: Sequence[Tool], snapshot: bytes) -> EnvironmentImage:
        """Return the image of a database, its snapshot and its tools."""
        return cls(
            env_id=database.env_id,
            snapshot=snapshot,
            tools={tool.name: tool.source_code for tool in tools},
            schemas={tool.name: tool.parameters for tool in tools},
            log_tables=(
                *(table.name for table in database.tables if table.log),
                *((FILES, CODE, LAYOUT) if database.files else ()),
            ),
            start_time=database.start_time,
            writes=tuple(tool.name for tool in tools if tool.writes),
            foreign=any(tool.author != "rules" for tool in tools),
            ours=tuple(tool.name for tool in tools if tool.author == "rules"),
        )

    @cached_property
    def part(self) -> EnvironmentImage:
        """The same environment with the tools alone that rules made: no foreign code ever runs in its processes."""
        return replace(
            self,
            tools={name: self.tools[name] for name in self.ours},
            schemas={name: self.schemas[name] for name in self.ours},
            writes=None if self.writes is None else tuple(name for name in self.writes if name in self.ours),
            foreign=False,
        )

    @property
    def journal(self) -> bool:
        """Whether an episode's changes are told by a journal of changed rows; else by the whole state, see
        `tasks.environment.Differ.journaled`."""
        return not self.foreign

    @cached_property
    def header(self) -> dict[str, Any]:
        """All but the snapshot, as a JSON object."""
        return {
            "tools": self.tools,
            "schemas": self.schemas,
            "start_time": self.start_time,
            "writes": None if self.writes is None else list(self.writes),
            "journal": self.journal,
            "log_tables": list(self.log_tables),
        }

    @cached_property
    def digest(self) -> str:
        """The sha256 of all that decides how episodes run."""
        text = json.dumps(self.header, sort_keys=True)
        return hashlib.sha256(text.encode() + self.snapshot).hexdigest()
