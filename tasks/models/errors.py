"""What can go wrong with a model, each under the name of the gate that a rejection gives."""

from __future__ import annotations

from typing import Literal

Gate = Literal["model_unreachable", "model_refused", "model_output", "model_budget", "model_cost"]


class ModelError(Exception):
    """A model that gave no usable answer.

    `gate` is model_unreachable (no answer after all attempts), model_refused (it declined), model_output (the answer
    was not as asked, after all repairs), model_budget (an agent's budget ended) or model_cost (the cap on money).
    """

    def __init__(self, gate: Gate, reason: str) -> None:
        super().__init__(f"{gate}: {reason}")
        self.gate: Gate = gate
        self.reason = reason


class RolesError(ValueError):
    """A configuration of models that cannot be used; says what, where and what to do, and never shows a value that
    may be a key."""
