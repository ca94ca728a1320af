"""What models answer when they write tasks."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Review(BaseModel):
    """Whether a request makes sense."""

    sensible: bool = Field(description="true: someone could really ask for this; false: no one would")
    reason: str = Field(min_length=3, max_length=600, description="one sentence that says why")


class Retelling(BaseModel):
    """A request in natural words."""

    request: str = Field(min_length=20, max_length=6000, description="the whole request, ready to be sent")


class Comparison(BaseModel):
    """Whether two requests ask for the same."""

    same: bool = Field(description="true: whoever fulfils one fulfils the other")
    difference: str = Field(
        default="", max_length=600,
        description="one sentence: what differs and must be mended; '' if they are the same",
    )  # fmt: skip


class GoalField(BaseModel):
    """One field of the answer that a goal asks for."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$", description="snake case")
    type: Literal["string", "integer", "number", "boolean"]
    meaning: str = Field(
        min_length=3, max_length=200, description='what it holds, as in "the total of the cancelled orders"'
    )


class Goal(BaseModel):
    """A goal that someone may have."""

    request: str = Field(min_length=40, max_length=1500, description="what is wanted, without the form of the answer")
    fields: list[GoalField] = Field(min_length=1, max_length=4)
    changes_data: bool = Field(description="whether fulfilling the request changes the data")


class Goals(BaseModel):
    """Several goals, unlike one another."""

    goals: list[Goal] = Field(min_length=1, max_length=6)


class Script(BaseModel):
    """A Python module."""

    script: str = Field(min_length=20, max_length=12_000, description="the module's source text")
