"""Who a policy may talk to: the person who gave the task and kept something back."""

from __future__ import annotations

from tasks.dialogue.model_user import ModelUser, model_users, spoken_fault
from tasks.dialogue.user import ASK_USER, DESCRIPTION, PARAMETERS, RuleUser, User, UserMaker, answers, rule_user

__all__ = [
    "ASK_USER",
    "DESCRIPTION",
    "PARAMETERS",
    "ModelUser",
    "RuleUser",
    "User",
    "UserMaker",
    "answers",
    "model_users",
    "rule_user",
    "spoken_fault",
]
