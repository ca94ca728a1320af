"""Rollouts: a policy's attempts at tasks, in isolated copies, judged by outcome."""

from __future__ import annotations

from tasks.rollout.rollout import Attempt, episode_id, rollout, step_limit
from tasks.rollout.view import Answer, Policy, ToolSignature, View, first_view

__all__ = [
    "Answer",
    "Attempt",
    "Policy",
    "ToolSignature",
    "View",
    "episode_id",
    "first_view",
    "rollout",
    "step_limit",
]
