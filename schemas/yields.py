"""What became of the candidates of one synthesis."""

from __future__ import annotations

from pydantic import Field, model_validator

from schemas.base import Record


class SynthesisYield(Record):
    """Candidates that were written for one environment and uses, each with its end; the ends add up.

    Raises:
        pydantic.ValidationError: if a candidate has no end, or two.
    """

    env_id: str
    uses: str = Field(description="what the tasks were made for, joined by '+', e.g. 'train+rl+arena-0'")
    seed: int
    wanted: int = Field(ge=0, description="tasks asked for")
    candidates: int = Field(ge=0)
    accepted: int = Field(ge=0, description="new tasks that passed every gate")
    rejected: dict[str, int] = Field(default={}, description="candidates by the gate that refused them")
    cpu_s: float = Field(ge=0.0, description="CPU seconds: writing, executing, replays, red team, in sandboxes too")

    @model_validator(mode="after")
    def _adds_up(self) -> SynthesisYield:
        if self.accepted + sum(self.rejected.values()) != self.candidates:
            raise ValueError(
                f"{self.env_id}: {self.accepted} accepted and {sum(self.rejected.values())} rejected are not the "
                f"{self.candidates} candidates"
            )
        return self
