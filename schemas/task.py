"""An agent task: prompt, allowed tools, oracle and verifier."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from schemas.base import Record


class Call(Record):
    """A tool call. An argument is a JSON value, or {"$ref": "2.orders[0].order_id"}: a place in the observation of
    an earlier step (0-based), so that no minted id is baked in."""

    tool: str
    arguments: dict[str, Any] = {}


class Oracle(Record):
    """What solves a task; never visible to a policy. Either a chain of calls and where the answer's fields stand
    (`answer`: field -> a value or {"$ref": ...}), or a script: a Python module with
    `def solve(call): ... return answer`, where `call(tool, **arguments)` returns the observation."""

    calls: tuple[Call, ...] = ()
    answer: dict[str, Any] = {}
    script: str = ""


class AnswerField(Record):
    """One field of the JSON answer that a task asks for."""

    name: str
    type: Literal["string", "integer", "number", "boolean", "array"]
    description: str = ""
    tolerance: float = Field(default=0.0, description="absolute tolerance, numbers only")
    unordered: bool = Field(default=False, description="arrays only: compare as a multiset")


class Change(Record):
    """One changed row in the difference between two states, log tables aside.

    `before` and `after` hold the whole row; `before` is None for an insert, `after` for a delete.
    """

    table: str
    operation: Literal["insert", "update", "delete"]
    key: str | int
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


class Verifier(Record):
    """Judges an episode by its outcome: the answer and the final state's difference, never the path.

    Keys of inserted rows are compared up to renaming, since another valid path may mint them in another order.
    """

    answer: tuple[AnswerField, ...]
    expected_answer: dict[str, Any]
    expected_changes: tuple[Change, ...] = ()
    ignore_columns: tuple[str, ...] = Field(default=(), description="'table.column' left out, e.g. timestamps")


class Fact(Record):
    """Something that a task's user knows and tells when asked for it.

    A question is about the fact if it holds every word of `topic`. If a condition is not met yet, the user says
    `holds` instead, and tells nothing.
    """

    topic: str = Field(description="what to ask for, in a few words, e.g. 'quantity limit'")
    says: str = Field(description="the sentence that tells it")
    holds: str = ""
    after: tuple[str, ...] = Field(default=(), description="topics that must have been told before")
    mentions: tuple[str, ...] = Field(default=(), description="words that the question must hold too, e.g. a count")


class SimulatedUser(Record):
    """The person who gave a task and kept something back; a policy asks with the reserved call `ask_user`."""

    facts: tuple[Fact, ...]
    unknown: str = "I do not know that."
    patience: int = Field(default=12, description="questions that are answered; after that there is no time left")


RUBRIC = "rubric"
"""The set of the rubric tasks, which no verified task is in."""


class RubricItem(Record):
    """One thing that a free text is scored by.

    required: one of the phrases stands in the text. forbidden: none does. most_words: the text has at most `limit`.
    Phrases are compared without regard to case, spacing and thousands separators, as whole words.
    """

    name: str
    kind: Literal["required", "forbidden", "most_words"]
    any_of: tuple[str, ...] = ()
    limit: int = 0


TaskClass = Literal["long", "decline", "multi_turn"]
"""long: at least 7 interaction turns. decline: a rule forbids what is asked. multi_turn: a user must be asked."""


class AgentTask(Record):
    """A task.

    `difficulty` is the chance that a solver fails, drawn evenly from those of the panel that may pass: greedy, bounded
    search, and oracles at three noise levels (0: all pass, 1: none does). `pass_rates` holds their measured rates, and
    those of the null, guessing and random agents, which must be 0.
    """

    task_id: str
    env_id: str
    kind: Literal["graph", "program", "rubric"] = Field(
        description="a walk over the tools, a program, or a free text scored item by item (never among verified sets)"
    )
    prompt: str
    tools: tuple[str, ...] = Field(description="names of the tools allowed")
    oracle: Oracle
    oracle_calls: int = Field(description="tool calls that the oracle makes, questions to the user among them")
    shortest_found: int = Field(
        default=0, description="calls of the shortest full-reward episode found, an upper bound; 0: not searched"
    )
    least_calls: int = Field(default=0, description="proved: no episode of fewer calls gets full reward; 0: not proved")
    length: int = Field(
        default=0,
        description="the length it counts as: shortest_found if below half of oracle_calls, else oracle_calls",
    )
    expected_answer: dict[str, Any]
    verifier: Verifier
    rubric: tuple[RubricItem, ...] = Field(
        default=(), description="kind rubric only: what the text in the answer's one field is scored by"
    )
    template: str = Field(default="", description="which chain shape or program family it came from")
    skills: tuple[str, ...] = Field(default=(), description="tool kinds and program constructs that it exercises")
    writes: bool = False
    classes: tuple[str, ...] = Field(default=(), description="each a TaskClass: what results are broken down by")
    user: SimulatedUser | None = Field(default=None, description="whom to ask for what the prompt leaves open")
    author: str = Field(default="rules", description="who worded the prompt: 'rules' or a model's id")
    difficulty: float | None = None
    pass_rates: dict[str, float] = {}
    kill_rate: float | None = Field(default=None, description="share of non-equivalent red-team mutants refused")
    mutants: int = 0
    split: str = Field(
        default="",
        description="train | rl | development | diagnosis | arena; '' until assigned; rubric for rubric tasks",
    )
    arm: str = Field(default="", description="'' | directed | control: which regeneration made it")
    guideline_id: str = ""
    seed: int = 0

    @model_validator(mode="after")
    def _keep_rubrics_apart(self) -> AgentTask:
        """Refuse a rubric in a set of verified tasks, and a rubric task without a rubric."""
        if (self.kind == "rubric") != bool(self.rubric):
            raise ValueError(f"task {self.task_id}: the kind rubric and a rubric go together")
        if (self.kind == "rubric") != (self.split == RUBRIC) and self.split:
            raise ValueError(f"task {self.task_id}: {self.kind} tasks do not belong to the set {self.split!r}")
        return self


class Survivor(Record):
    """A wrong or cheap episode that got full reward, and what came of it.

    rejected: the candidate that it broke was dropped; repaired: the task was tightened until it failed; kept: it was
    found in a task that had been accepted.
    """

    survivor_id: str
    env_id: str
    task_id: str
    kind: str = Field(description="what was wrong with the episode, as the red team names it")
    outcome: Literal["rejected", "repaired", "kept"]
    reason: str
    prompt: str
    calls: tuple[Call, ...] = Field(description="what the episode did; () for nothing")
    answer: dict[str, Any] | None
    expected_answer: dict[str, Any]
    changes: int = Field(description="how many rows it changed")


class SetScore(Record):
    """How often a fixed agent passes the tasks of one set: what the set gives away without skill."""

    set_name: str = Field(description="the tasks' use (train, rl, development, diagnosis, arena ...), or release")
    policy_id: str
    tasks: int
    score: float = Field(description="mean pass rate over the set's tasks")
