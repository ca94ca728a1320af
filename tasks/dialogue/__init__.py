"""Who a policy may talk to: the person who gave the task and kept something back."""

from __future__ import annotations

from tasks.dialogue.user import ASK_USER, DESCRIPTION, PARAMETERS, RuleUser, User, UserMaker, answers, rule_user

__all__ = ["ASK_USER", "DESCRIPTION", "PARAMETERS", "RuleUser", "User", "UserMaker", "answers", "rule_user"]
