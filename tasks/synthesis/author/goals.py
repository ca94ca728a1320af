"""Programmatic goals by a model: it proposes them, writes a solution and, apart from that, a checking script."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType

from schemas.base import canonical_json
from schemas.task import AnswerField, Oracle
from tasks.environment import EnvironmentImage
from tasks.models import ModelError, render
from tasks.sandbox import FLOOR, Limits, SandboxWorker
from tasks.synthesis import gates
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.author.answers import Goal, Goals, Script
from tasks.synthesis.author.author import Author
from tasks.synthesis.author.brief import (
    actions_brief,
    changes_brief,
    counts_brief,
    documents_brief,
    rows_brief,
    tables_brief,
    tools_brief,
    tools_list,
)
from tasks.synthesis.author.facts import straight, unquoted
from tasks.synthesis.author.opinion import CheckingScript
from tasks.synthesis.author.scripts import (
    ALLOWED_IMPORTS,
    GOAL_LIMITS,
    Checker,
    called_tools,
    constructs,
    script_fault,
    traced,
)  # fmt: skip
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.prompt import Speaker
from tasks.synthesis.replay import execute

AT_ONCE = 3
"""Goals that a model is asked for at a time."""
MOST_FAILURES = 3
"""So many goals in a row that came to nothing end the search for goals in an environment."""
_SCHEMA_NAME = re.compile(r"\b[a-z0-9]+_[a-z0-9_]+\b")


@dataclass
class GoalWriter:
    """Writes program candidates from a model's goals, one after the other. Use it by `with`.

    Args:
        seed: which rows the model is shown, and thereby which goals it proposes.
        bounds: fewest and most calls of a solution.
        limits: what a script may use when it is tried.
    """

    author: Author
    image: EnvironmentImage
    seed: int
    bounds: tuple[int, int]
    phrasing: Phrasing = "train"
    limits: Limits = GOAL_LIMITS
    told: list[str] = field(default_factory=list)
    waiting: list[Goal] = field(default_factory=list)
    failures: int = 0
    batch: int = 0
    _worker: SandboxWorker | None = None
    _checker: Checker | None = None

    def __enter__(self) -> GoalWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.close()

    @property
    def atlas(self) -> Atlas:
        """What is known of the environment."""
        return self.author.atlas

    def write(self, skills: Sequence[str], name: str) -> Candidate | None:
        """Return a candidate for the next goal, or None if it came to nothing: the author's notes say why.

        Args:
            skills: what a solution should exercise one of; () for anything.
            name: what the note is written under.
        """
        if self.author.stopped or self.failures >= MOST_FAILURES:
            return None
        self.failures += 1
        try:
            worker, checker = self._means()
            if worker.strength.level < FLOOR:
                self.failures = MOST_FAILURES
                self.author.note(name, "sandbox", f"too weak for a model's scripts: {worker.strength.name}")
                return None
            if not checker.fits:
                self.failures = MOST_FAILURES
                self.author.note(name, "too_large", "the state is too large to be handed to a checking script")
                return None
            goal = self._next_goal(skills)
            candidate = self._candidate(goal, self._solution(goal, worker), checker)
        except ModelError as error:
            self.author.failed(name, "goal", error)
            return None
        self.failures = 0
        return candidate

    def _means(self) -> tuple[SandboxWorker, Checker]:
        if self._worker is None or self._checker is None:
            self._worker = SandboxWorker(self.limits)
            self._worker.load(self.image)
            self._checker = Checker(self._worker, self.atlas)
        return self._worker, self._checker

    def _brief(self) -> dict[str, object]:
        rng = random.Random(f"{self.author.env_id}/{self.seed}/rows/{self.batch}")
        return {
            "about": self.author.about, "tables": tables_brief(self.atlas), "rows": rows_brief(self.atlas, rng),
            "documents": documents_brief(self.atlas), "tools": tools_brief(self.atlas),
            "tools_list": tools_list(self.atlas),
            "actions": actions_brief(self.atlas), "changes": changes_brief(self.atlas),
            "now": self.atlas.database.start_time, "imports": ALLOWED_IMPORTS,
            "least": self.bounds[0], "most": self.bounds[1],
        }  # fmt: skip

    def _next_goal(self, skills: Sequence[str]) -> Goal:
        if not self.waiting:
            self.batch += 1
            prompt = render(
                "author/goals", count=AT_ONCE, skills=list(skills), told=self.told, counts=counts_brief(self.atlas),
                **self._brief(),
            )  # fmt: skip
            found = self.author.gateway.ask(
                "task_writer", prompt, Goals, env_id=self.author.env_id, check=self._goals_fault
            )
            self.waiting = [
                goal.model_copy(update={"request": straight(goal.request)}) for goal in found.goals[:AT_ONCE]
            ]
            self.told += [goal.request for goal in self.waiting]
        return self.waiting.pop(0)

    def _goals_fault(self, answer: Goals) -> str:
        for number, goal in enumerate(answer.goals[:AT_ONCE], 1):
            if fault := goal_fault(goal, self.told):
                return f"Goal {number}: {fault}"
        return ""

    def _solution(self, goal: Goal, worker: SandboxWorker) -> str:
        prompt = render("author/solution", request=self._prompt(goal), fields=goal.fields, **self._brief())

        @functools.cache  # a script that comes again, as it was, need not run again
        def fault(source: str) -> str:
            if found := script_fault(source, "solve", ("call",)):
                return found
            tried = self._bare(goal, source)
            run = execute(worker, Oracle(script=traced(source)))
            return (
                gates.executes(tried, run)
                or _changes_fault(goal, len(run.changes))
                or gates.length(tried, run, *self.bounds)
                or gates.grounded(tried, run, self.atlas)
            )

        found = self.author.gateway.ask(
            "task_writer", prompt, Script, env_id=self.author.env_id, check=lambda answer: fault(answer.script)
        )
        return found.script

    def _candidate(self, goal: Goal, solution: str, checker: Checker) -> Candidate:
        prompt = render("author/verifier", request=self._prompt(goal), fields=goal.fields, **self._brief())

        def fault(answer: Script) -> str:
            """Tell what is wrong with a script, but never what the solution's outcome is."""
            if found := script_fault(answer.script, "verify", ("before", "after", "answer")):
                return found
            accepted, broken = checker.check(answer.script, {}, ())
            if accepted:
                return "It accepts an episode that did nothing and answered nothing."
            zero = {field.name: _EMPTY[field.type] for field in goal.fields}
            return broken or checker.check(answer.script, zero, ())[1]

        source = self.author.gateway.ask(
            "task_writer", prompt, Script, env_id=self.author.env_id, check=fault
        ).script  # fmt: skip
        bare = self._bare(goal, solution)
        opinion = CheckingScript(source, checker, self.atlas, bare.prompt, bare.oracle)
        return Candidate(**{**bare.__dict__, "second_opinion": opinion})

    def _bare(self, goal: Goal, solution: str) -> Candidate:
        """Return the candidate of a goal and a solution, without a second opinion."""
        kinds = {self.atlas.tools[name].kind for name in called_tools(solution) if name in self.atlas.tools}
        return Candidate(
            kind="program", template="goal", prompt=self._prompt(goal), oracle=Oracle(script=solution),
            fields=tuple(
                AnswerField(
                    name=f.name, type=f.type, description=f.meaning,
                    tolerance=gates.CENT if f.type == "number" else 0.0,
                )
                for f in goal.fields
            ),
            skills=tuple(sorted(kinds | constructs(solution))), author=self.author.name,
        )  # fmt: skip

    def _prompt(self, goal: Goal) -> str:
        """Return the request with the sentence that asks for the answer, in one of the usual forms."""
        rng = random.Random(canonical_json(goal))
        reply = Speaker(self.atlas, rng, self.phrasing).reply([(f.name, straight(f.meaning)) for f in goal.fields])
        return f"{goal.request} {reply}"


def _changes_fault(goal: Goal, rows: int) -> str:
    if bool(rows) == goal.changes_data:
        return ""
    wanted = "is to change something" if goal.changes_data else "changes nothing"
    return f"the script changes {rows or 'no'} rows, but the request {wanted}"


_EMPTY = {"string": "", "integer": 0, "number": 0.0, "boolean": False}


def goal_fault(goal: Goal, told: Sequence[str]) -> str:
    """Return what is wrong with a goal as it is worded, or ''."""
    request = straight(goal.request)
    texts = [request, *(straight(field.meaning) for field in goal.fields)]
    if any(text.count('"') % 2 for text in texts):
        return "a double quote is not closed."
    for text in texts:
        if found := _SCHEMA_NAME.search(unquoted(text)):
            return f"it holds {found.group()!r}; use people's words instead of names of tools and columns."
    names = [field.name for field in goal.fields]
    if len(set(names)) < len(names):
        return "two fields have the same name."
    if "json" in request.lower():
        return "leave out the form of the answer; it is added by itself."
    if any(request.lower() == known.lower() for known in told):
        return "it was proposed before."
    return ""
