"""Rollouts: a policy's attempts at tasks, in isolated copies, judged by outcome."""

from __future__ import annotations

from tasks.rollout.rollout import Attempt, episode_id, rollout, step_limit
from tasks.rollout.view import ASK_SIGNATURE, Answer, Policy, ToolSignature, View, first_view

__all__ = [
    "ASK_SIGNATURE",
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
