"""Business processes: archetypes, their choice by the theme, and the generated state with its history."""

from __future__ import annotations

from tasks.mining.workflows.archetypes import ARCHETYPES
from tasks.mining.workflows.choose import Match, choose
from tasks.mining.workflows.compose import Cast, compose
from tasks.mining.workflows.draft import Draft
from tasks.mining.workflows.plan import Invariant, Workflow

__all__ = ["ARCHETYPES", "Cast", "Draft", "Invariant", "Match", "Workflow", "choose", "compose"]
