"""Chat models for agent roles: one door that caches, counts and caps every call, and a loop for agents with tools.

Nothing here imports LangChain before a role with a model is used.
"""

from tasks.models.agent import AgentRun, Budget, run_agent
from tasks.models.errors import ModelError, RolesError
from tasks.models.gateway import RULES, Gateway, Reply, Slot, no_slot
from tasks.models.prompts import Prompt, render, templates_hash, untrusted
from tasks.models.roles import Roles, load_roles
from tasks.models.spending import Spent, spent
from tasks.models.tools import AgentTool

__all__ = [
    "RULES",
    "AgentRun",
    "AgentTool",
    "Budget",
    "Gateway",
    "ModelError",
    "Prompt",
    "Reply",
    "Roles",
    "RolesError",
    "Slot",
    "Spent",
    "load_roles",
    "no_slot",
    "render",
    "run_agent",
    "spent",
    "templates_hash",
    "untrusted",
]
