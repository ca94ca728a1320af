"""The two hands that models play, step by step: the coder plans, writes and revises, the tester tests and reviews.

Each step is one question to the gateway whose answer is checked before it is taken; faults go back to the model.
Every method raises `ModelError` if the model gives no usable answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.database import Action, Database
from schemas.tool import Tool, ToolTest
from tasks.coding.answers import PlannedTool, Review, ToolPlans, WrittenTest, WrittenTests, WrittenTool
from tasks.coding.briefing import Briefing, tool_lines
from tasks.coding.drafts import completed, draft_tool, plan_faults, returns_faults
from tasks.coding.gaps import effect_lines, gap_lines
from tasks.coding.gates import ALLOWED_IMPORTS, FORBIDDEN_NAMES
from tasks.coding.handwritten import written_faults
from tasks.coding.query import Queries
from tasks.models import Gateway, Prompt, render

ANSWER_REPAIRS = 2
"""How often an answer that is not as asked goes back within one step."""
TEMPLATES = ("coder/plan", "coder/write", "coder/revise", "tester/write", "tester/review")
"""All that the two hands are asked by; part of cache keys."""
_MOST_TOLD = 6


@dataclass
class Work:
    """One tool in the making: its plan, and what each hand has written so far.

    Attributes:
        tests: the tester's.
        repairs: rounds of mending so far.
        reviewed: whether the tester has looked again at its tests since the code last changed.
        unchanged: whether the coder, asked to mend it, sent what it had sent before.
        action: what the plan says that a writing tool does, until the code was found to do otherwise.
    """

    plan: PlannedTool
    written: WrittenTool
    tests: list[WrittenTest] = field(default_factory=list)
    repairs: int = 0
    reviewed: bool = False
    action: Action | None = None
    unchanged: bool = False


@dataclass
class Hands:
    """Asks the models of the roles coder and tester about one environment.

    Attributes:
        kept: the environment's tools so far; whoever accepts another one appends it.
    """

    gateway: Gateway
    database: Database
    brief: Briefing
    queries: Queries
    kept: list[Tool]

    @property
    def author(self) -> str:
        """The id of the coder's model."""
        return self.gateway.model_id("coder").partition(" ")[0]

    def plan(self, most: int) -> tuple[list[PlannedTool], list[tuple[str, str, str]]]:
        """Return the plans that are sound, at most so many, and (name, gate, reason) of those that still are not."""
        taken = [tool.name for tool in self.kept]
        tries = 0

        def faults(plan: PlannedTool) -> list[tuple[str, str]]:
            return plan_faults(plan, self.database, taken, self.brief.documents)

        def check(answer: ToolPlans) -> str:
            nonlocal tries
            tries += 1
            if tries > ANSWER_REPAIRS:  # what is still wrong is left out, and the rest is made
                return ""
            lines = [f"{plan.name}: {fault}" for plan in answer.tools for _, fault in faults(plan)]
            if len(answer.tools) > most:
                lines.append(f"{len(answer.tools)} tools: plan at most {most}")
            return "\n".join(lines)

        shown = {
            "environment": self.brief.sketched(), "tools": tool_lines(self.kept, short=True),
            "effects": effect_lines(self.database, self.kept), "gaps": gap_lines(self.database, self.kept),
        }  # fmt: skip
        prompt = render("coder/plan", most=most, **shown)
        answer = self.gateway.ask(
            "coder", prompt, ToolPlans, env_id=self.database.env_id, check=check, repairs=ANSWER_REPAIRS
        )
        plans: list[PlannedTool] = []
        wrong: list[tuple[str, str, str]] = []
        for plan in answer.tools:
            found = faults(plan)
            if any(plan.name == other.name for other in plans):
                found.append(("plan", "two planned tools have this name"))
            elif len(plans) >= most:
                found.append(("plan", f"more than {most} tools were planned"))
            if found:
                wrong.append((plan.name, found[0][0], "; ".join(fault for _, fault in found)))
            else:
                plans.append(plan.model_copy(update={"returns": completed(plan.returns)}))
        return plans, wrong

    def write(self, plan: PlannedTool) -> WrittenTool:
        """Return the coder's source of a planned tool and its own tests."""
        return self._written(plan, self._render("coder/write", plan, **self._rules()))

    def revise(self, work: Work, faults: Sequence[str]) -> WrittenTool:
        """Return the coder's source and tests again, after it was told what went wrong.

        Its `returns` is complete where it changes the places of the plan.
        """
        own = [test.model_dump(exclude_defaults=True) for test in work.written.tests]
        prompt = self._render(
            "coder/revise", work.plan, source=work.written.source_code, own_tests=_pretty(own),
            faults=list(faults)[:_MOST_TOLD], **self._rules(),
        )  # fmt: skip
        written = self._written(work.plan, prompt)
        return written.model_copy(update={"returns": completed(written.returns)})

    def test(self, plan: PlannedTool) -> list[WrittenTest]:
        """Return the tester's tests of a planned tool; it is not shown any code."""
        prompt = self._render("tester/write", plan)
        return self.gateway.ask(
            "tester", prompt, WrittenTests, env_id=self.database.env_id,
            check=lambda written: self._faults(plan, written.tests), repairs=ANSWER_REPAIRS,
        ).tests  # fmt: skip

    def review(self, work: Work, failed: Sequence[ToolTest]) -> list[WrittenTest]:
        """Return the tester's tests after it has judged those that failed: kept, corrected or withdrawn."""
        by_name = {test.name: test for test in work.tests}
        told = [
            {"test": by_name[test.name].model_dump(exclude_defaults=True), "what_happened": test.message}
            for test in failed[:_MOST_TOLD]
        ]
        names = [test.name for test in failed[:_MOST_TOLD]]

        def check(review: Review) -> str:
            lines = [f"{one.name}: no such failing test" for one in review.tests if one.name not in names]
            lines += [f"{one.name}: correct needs a corrected test" for one in review.tests
                      if one.verdict == "correct" and one.corrected is None]  # fmt: skip
            return "\n".join(lines) or self._faults(work.plan, _reviewed(work.tests, review))

        prompt = self._render("tester/review", work.plan, failures=_pretty(told))
        review = self.gateway.ask(
            "tester", prompt, Review, env_id=self.database.env_id, check=check, repairs=ANSWER_REPAIRS
        )
        return _reviewed(work.tests, review)

    def _written(self, plan: PlannedTool, prompt: Prompt) -> WrittenTool:
        def check(written: WrittenTool) -> str:
            wrong = returns_faults(written.returns) if written.returns else []
            return "\n".join([*wrong, *filter(None, [self._faults(plan, written.tests)])])

        return self.gateway.ask(
            "coder", prompt, WrittenTool, env_id=self.database.env_id,
            check=check, repairs=ANSWER_REPAIRS,
        )  # fmt: skip

    def _render(self, step: str, plan: PlannedTool, **values: Any) -> Prompt:
        """Render a step about one planned tool, with what concerns its tables."""
        used = {*plan.reads, *plan.writes}
        brief = self.brief.narrowed(used, [refusal.document for refusal in plan.refusals])
        near = [tool for tool in self.kept if used & {*tool.reads, *tool.writes}]
        plan_text = _pretty(plan.model_dump(exclude_defaults=True))
        acts = plan.action is not None
        return render(step, environment=brief, tools=tool_lines(near) or ["none"], plan=plan_text, acts=acts, **values)

    @staticmethod
    def _rules() -> dict[str, Any]:
        return {"imports": sorted(ALLOWED_IMPORTS), "forbidden": sorted(FORBIDDEN_NAMES)}

    def _faults(self, plan: PlannedTool, tests: Sequence[WrittenTest]) -> str:
        nothing = WrittenTool(source_code="", reads=plan.reads, writes=plan.writes, tests=[])
        tool = draft_tool(self.database, plan, nothing, self.author)
        known = {plan.name, *(kept.name for kept in self.kept)}
        return "\n".join(written_faults(tests, tool, known, self.queries))


def _reviewed(tests: Sequence[WrittenTest], review: Review) -> list[WrittenTest]:
    verdicts = {one.name: one for one in review.tests}
    found = []
    for test in tests:
        one = verdicts.get(test.name)
        if one is None or one.verdict == "keep":
            found.append(test)
        elif one.verdict == "correct" and one.corrected is not None:
            found.append(one.corrected.model_copy(update={"name": test.name}))
    return found


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
