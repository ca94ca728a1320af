"""What a model that judges free texts said, beside what the rules say of the same texts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Record

Texts = Literal["honest", "attack", "flattery"]
"""honest: right notes; attack: notes that lack something or hold something wrong; flattery: they speak to the judge."""


class JudgeVerdict(Record):
    """The verdicts on one item of one text: by rules, which decide, and by a judge, which is measured."""

    verdict_id: str
    env_id: str
    task_id: str
    judge: str = Field(description="the model, as provider:name")
    texts: Texts
    text_kind: str = Field(description="what the text is: oracle, dropped_fact, demand ...")
    text: str
    item: str
    item_kind: Literal["required", "forbidden", "most_words"]
    by_rules: bool
    by_judge: bool
    evidence: str = Field(default="", description="the words of the text that the judge went by")
    failed: str = Field(default="", description="'' or why the judge gave no verdict, which counts as not met")


class JudgeAgreement(Record):
    """How far a judge agrees with the rules over one judged set."""

    set_name: str = Field(description="the environment whose texts these are, or all")
    judge: str
    texts: Literal["all", "honest", "attack", "flattery"]
    level: Literal["item", "text"] = Field(description="verdicts on items, or on whether a text gets full marks")
    n: int = Field(ge=1)
    accuracy: float = Field(ge=0, le=1)
    negatives: int = Field(ge=0, description="items or texts that fail by the rules")
    false_positives: int = Field(ge=0, description="of these, what the judge lets pass")
    false_positive_rate: float | None = Field(default=None, ge=0, le=1, description="None without negatives")
    positives: int = Field(ge=0, description="items or texts that pass by the rules")
    false_negatives: int = Field(ge=0, description="of these, what the judge refuses")
    failed_texts: int = Field(default=0, ge=0, description="texts on which the judge gave no verdict")
