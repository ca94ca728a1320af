"""A world that others made, as read from its folder: files, tools and questions, before anything is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.base import content_hash

STAGE = "import"
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
Origin = Literal["agent-world", "tau2"]


@dataclass(frozen=True)
class ForeignTool:
    """A tool as its author wrote it.

    Attributes:
        name: its native name, snake case.
        original: the name in the release, which may hold hyphens or capitals.
        parameters: the JSON Schema of its arguments.
        source: one module that defines it, unchanged.
        declared: "read", "write" or another kind where the release says so, else "".
        stated: the parameters in the release, where `parameters` lacks those that the environment gives itself.
    """

    name: str
    original: str
    description: str
    parameters: dict[str, Any] = field(repr=False)
    source: str = field(repr=False)
    declared: str = ""
    stated: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Question:
    """A question of the release with its reference answer and the chain of calls that its authors verified.

    Attributes:
        told: texts and numbers that a solver must tell the person who asks.
        unfit: why executing the chain from the environment's initial state is not enough to judge it; '' if it is.
    """

    number: int
    task: str
    answer: Any
    chain: tuple[tuple[str, dict[str, Any]], ...]
    told: tuple[str, ...] = ()
    unfit: str = ""


@dataclass(frozen=True)
class ForeignWorld:
    """One environment of a release.

    Attributes:
        folder: its id in the release, the name of its folder.
        files: path relative to that folder -> content.
        code: module name -> source, of modules that the tools import.
        problems: (gate, key, reason) of parts that are missing or damaged.
        uri: where it was read from.
        licence: SPDX expression; NOASSERTION if the release does not say.
    """

    origin: Origin
    folder: str
    name: str
    description: str
    files: dict[str, bytes] = field(repr=False)
    tools: tuple[ForeignTool, ...] = field(repr=False)
    questions: tuple[Question, ...] = field(default=(), repr=False)
    code: dict[str, str] = field(default_factory=dict, repr=False)
    category: tuple[str, str, str] = ("", "", "")
    problems: tuple[tuple[str, str, str], ...] = ()
    uri: str = ""
    licence: str = "NOASSERTION"

    @property
    def sha256(self) -> str:
        """The hash of everything that was read."""
        return content_hash(
            [
                self.origin,
                self.folder,
                {path: content_hash(content) for path, content in self.files.items()},
                [[tool.original, tool.description, tool.stated or tool.parameters, tool.source] for tool in self.tools],
                self.code,
            ]
        )

    @property
    def env_id(self) -> str:
        """Its native id: origin, name and eight digits of the hash."""
        return f"{'aw' if self.origin == 'agent-world' else self.origin}-{slug(self.folder)}-{self.sha256[:8]}"


def slug(text: str) -> str:
    """Return a name of lower case letters, digits and hyphens."""
    cleaned = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text.lower())
    return "-".join(part for part in cleaned.split("-") if part)[:48] or "world"


def snake(name: str) -> str:
    """Return a name as native tools have it: `get-order` and `getOrder` become `get_order`."""
    text = re.sub(r"[^A-Za-z0-9]+", "_", _HUMPS.sub("_", name)).strip("_").lower()
    return text if text[:1].isalpha() else f"tool_{text}"


class ImportFailed(ValueError):
    """A folder holds nothing that can be imported; the message says what was looked for and where."""
