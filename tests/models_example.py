"""Roles and gateways over a scripted server, for tests of models."""

from __future__ import annotations

import os
from typing import Any

from chat_server import ChatServer
from pydantic import BaseModel

from schemas.models import ROLES, ModelChoice
from tasks.models import Gateway, Roles
from tasks.store import Store

KEY_VARIABLE = "SCRIPTED_KEY"
KEY = "sk-planted-0123456789abcdef"


class Hotel(BaseModel):
    """An answer that tests ask for."""

    name: str
    stars: int


def choice_for(server: ChatServer, **changes: Any) -> ModelChoice:
    """Return a model of the scripted server, at one dollar a million tokens read and two written."""
    base = {
        "model": "openai:scripted",
        "base_url": server.base_url,
        "api_key_env": KEY_VARIABLE,
        "max_tokens": 1000,
        "timeout_seconds": 20,
        "retry_seconds": 0.001,
        "input_usd_per_million": 1.0,
        "output_usd_per_million": 2.0,
    }
    return ModelChoice.model_validate({**base, **changes})


def gateway_for(server: ChatServer, store: Store, *, max_cost_usd: float | None = None, **changes: Any) -> Gateway:
    """Return a gateway in which the scripted server plays every role."""
    roles = Roles({role: choice_for(server, **changes) for role in ROLES}, {**os.environ, KEY_VARIABLE: KEY})
    return Gateway(roles, store, max_cost_usd=max_cost_usd)
