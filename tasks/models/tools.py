"""A tool that an agent is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True)
class AgentTool:
    """A tool of an agent: `call` gets the validated arguments and returns a text for the model.

    A ValueError that `call` raises is told to the model; any other exception ends the agent's run as a fault of ours.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    call: Callable[[Any], str]
