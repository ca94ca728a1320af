"""Chat models: which one plays which agent role, and the record of what a call of one cost."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, field_validator, model_validator

from schemas.base import Record

Role = Literal["researcher", "coder", "tester", "task_writer", "judge", "user"]
"""The agent roles that a chat model can play. A role without a model is played by rules."""

ROLES: tuple[Role, ...] = get_args(Role)

STAGES: dict[str, str] = {
    "researcher": "mining",
    "coder": "coding",
    "tester": "coding",
    "task_writer": "synthesis",
    "judge": "synthesis",
    "user": "synthesis",
}
"""The stage that each role works for."""

Outcome = Literal["answered", "malformed", "truncated", "refused", "failed"]
"""How a call ended: with an answer, one that was not as asked, one cut off by max_tokens, a refusal, or none."""


class ModelChoice(Record):
    """The model of one role, as the user configured it. It names the variable that holds the key, never the key."""

    model: str = Field(pattern=r"^[a-z][a-z0-9_]*:\S+$", description="provider:model, as init_chat_model takes it")
    base_url: str = Field(default="", description="an endpoint other than the provider's own")
    temperature: float | None = Field(default=0.0, ge=0, description="None ('default' in a file): do not send one")
    max_tokens: int = Field(default=4096, ge=1, description="the longest answer, tokens")
    timeout_seconds: float = Field(default=120, gt=0, description="how long an attempt may take")
    attempts: int = Field(default=7, ge=1, le=20, description="tries of a call that gets 408, 429, 5xx or no answer")
    retry_seconds: float = Field(default=1.0, gt=0, description="the first pause between tries; it doubles each time")
    api_key_env: str = Field(
        default="", pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$", description="the name of the variable that holds the key"
    )
    input_usd_per_million: float | None = Field(default=None, ge=0, description="instead of the price table's")
    output_usd_per_million: float | None = Field(default=None, ge=0, description="instead of the price table's")

    @field_validator("temperature", mode="before")
    @classmethod
    def _default_temperature(cls, value: object) -> object:
        return None if value == "default" else value

    @model_validator(mode="after")
    def _both_prices(self) -> ModelChoice:
        if (self.input_usd_per_million is None) != (self.output_usd_per_million is None):
            raise ValueError("give both input_usd_per_million and output_usd_per_million, or neither")
        return self

    @property
    def provider(self) -> str:
        """The provider's name, which stands for it wherever its endpoint is."""
        return self.model.partition(":")[0]

    @property
    def name(self) -> str:
        """The model's name at its provider."""
        return self.model.partition(":")[2]


class ModelCall(Record):
    """What one call of a chat model cost. A cached one cost nothing: its price is what it saved."""

    call_id: str
    role: str
    stage: str = ""
    env_id: str = ""
    model: str
    template: str
    template_sha256: str
    outcome: Outcome = "answered"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price_usd: float | None = None
    price_source: str = Field(default="", description="the price table with its version, 'roles file' or 'unknown'")
    seconds: float = 0.0
    attempts: int = 1
    cached: bool = False
    run_id: str = ""
