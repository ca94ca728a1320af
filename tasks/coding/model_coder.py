"""Tools by models: one plans and writes, another tests, and what disagrees is mended within a budget.

Rules decide: what the models write is data until it has passed every gate of the cross-check, and it runs in the
sandbox only. A step that a model fails is played by rules, or left out, with a rejection that says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.base import canonical_json
from schemas.database import Database
from schemas.environment import Rejection
from schemas.task import Call
from schemas.theme import Theme
from schemas.tool import Tool, ToolTest
from tasks.coding.answers import PlannedTool, WrittenTest
from tasks.coding.briefing import make_briefing
from tasks.coding.crosscheck import NOT_RUN, CodingResult, crosscheck
from tasks.coding.drafts import draft_tool
from tasks.coding.hands import Hands, Work
from tasks.coding.handwritten import make_tests, plain_properties
from tasks.coding.meanings import explain
from tasks.coding.query import Queries
from tasks.environment import EnvironmentImage
from tasks.models import Gateway, ModelError
from tasks.sandbox import FLOOR, SandboxWorker

MOST_TOOLS = 6
"""Tools that a model may add to an environment."""
REPAIRS = 3
"""Rounds, of both hands together, to mend one tool and its tests."""
STEP = "model tools"
"""The key of rejections that concern no single tool."""


def add_tools(
    database: Database,
    snapshot: bytes,
    kept: Sequence[Tool],
    worker: SandboxWorker,
    gateway: Gateway,
    theme: Theme | None = None,
    *,
    seed: int = 0,
    most: int = MOST_TOOLS,
    mutants_per_tool: int = 4,
) -> CodingResult:
    """Return the tools of the role "coder" that passed every gate, their tests, and why each other one did not.

    Args:
        kept: the environment's tools so far; none is replaced.
        worker: a sandbox. Where it is too weak for code that a model wrote, no model is asked.
        gateway: has a model for "coder". Without one for "tester", rules alone play that hand.
        theme: whose operations the tools are to serve.
        most: the most tools to add.

    Raises:
        SandboxError: if the sandbox itself does not start.
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    if worker.strength.level < FLOOR:
        told = f"the sandbox here is only {worker.strength.name!r}: no model was asked for tools"
        rejection = Rejection(stage="coding", key=STEP, gate="sandbox", reason=told, env_id=database.env_id)
        return CodingResult(rejections=[rejection])
    brief = make_briefing(database, snapshot, theme)
    hands = Hands(gateway, database, brief, Queries(database, snapshot, worker), list(kept))
    session = _Session(hands, snapshot, worker, seed, mutants_per_tool)
    session.run(most)
    return session.result


class _Session:
    """Makes one environment's tools, one after the other."""

    def __init__(self, hands: Hands, snapshot: bytes, worker: SandboxWorker, seed: int, mutants: int) -> None:
        self.hands, self.database, self.snapshot, self.worker = hands, hands.database, snapshot, worker
        self.seed, self.mutants = seed, mutants
        self.result = CodingResult()

    def run(self, most: int) -> None:
        """Plan and make the tools; a cap on money that is reached ends it, and what is finished stays."""
        try:
            plans, wrong = self.hands.plan(most)
        except ModelError as error:
            self._reject(STEP, error.gate, f"the coder planned no tools: {error.reason}")
            return
        for name, gate, reason in wrong:
            self._reject(name, gate, reason)
        limits = self.worker.limits
        with SandboxWorker(limits, hash_seed=4217, clock_skew_s=-7_776_123) as other:
            for place, plan in enumerate(plans):
                try:
                    self._make(plan, other)
                except ModelError as error:
                    self._reject(plan.name, error.gate, error.reason)
                    if error.gate == "model_cost":
                        for later in plans[place + 1 :]:
                            self._reject(later.name, error.gate, "planned, but the cap on money was reached before")
                        return

    def _reject(self, key: str, gate: str, reason: str) -> None:
        env_id = self.database.env_id
        self.result.rejections.append(Rejection(stage="coding", key=key, gate=gate, reason=reason, env_id=env_id))

    def _make(self, plan: PlannedTool, other: SandboxWorker) -> None:
        """Have a tool and its tests written by both hands, and mended until they agree or the budget is spent."""
        work = Work(plan, self.hands.write(plan), self._tests(plan))
        while True:
            checked = self._check(work)
            if checked.tools:
                self._accept(checked, other)
                return
            if work.repairs >= REPAIRS:
                self.result.rejections.extend(checked.rejections)
                self.result.tests.extend(checked.tests)
                return
            work.repairs += 1
            failed = [test for test in checked.tests if not test.passed and test.message != NOT_RUN]
            doubted = {test.name for test in work.tests}
            if failed and not work.reviewed and all(t.author == "tester" and t.name in doubted for t in failed):
                before, work.tests, work.reviewed = work.tests, self._review(work, failed), True
                if work.tests != before:
                    continue
            work.written, work.reviewed = self.hands.revise(work, _faults(checked, failed)), False

    def _tests(self, plan: PlannedTool) -> list[WrittenTest]:
        """Return the tester's tests; none if there is no such model or it fails: rules are the other hand then."""
        if not self.hands.gateway.has("tester"):
            return []
        try:
            return self.hands.test(plan)
        except ModelError as error:
            if error.gate == "model_cost":
                raise
            told = f"the tester wrote none, those that rules write stand alone: {error.reason}"
            self._reject(f"tests of {plan.name}", error.gate, told)
            return []

    def _review(self, work: Work, failed: Sequence[ToolTest]) -> list[WrittenTest]:
        """Return the tester's tests after its review; as they are if it fails."""
        try:
            return self.hands.review(work, failed)
        except ModelError as error:
            if error.gate == "model_cost":
                raise
            told = f"the tester did not review its failing tests, they stand: {error.reason}"
            self._reject(f"tests of {work.plan.name}", error.gate, told)
            return work.tests

    def _check(self, work: Work) -> CodingResult:
        tool = draft_tool(self.database, work.plan, work.written, self.hands.author)
        queries = self.hands.queries
        own = make_tests(work.written.tests, tool, "coder", queries)
        tests = [*own, *make_tests(work.tests, tool, "tester", queries), *plain_properties(tool, own)]
        return crosscheck(
            self.database, self.snapshot, [tool], tests, self.worker, seed=self.seed, mutants_per_tool=self.mutants,
            beside=self.hands.kept,
        )  # fmt: skip

    def _accept(self, checked: CodingResult, other: SandboxWorker) -> None:
        """Keep a tool that passed, if it does the same with another hash seed and clock; say what its fields mean."""
        (tool,) = checked.tools
        self.result.tests.extend(checked.tests)
        image = EnvironmentImage.of(self.database, [*self.hands.kept, tool], self.snapshot)
        for test in checked.tests:
            calls = [*(Call(**step) for step in test.setup), Call(tool=tool.name, arguments=test.arguments)]
            if self.worker.run_episode(calls, image=image) != other.run_episode(calls, image=image):
                told = f"with another hash seed and clock it does something else in {test.author}'s {test.name}"
                self._reject(tool.name, "deterministic", told)
                return
        known: dict[str, dict[str, Any]] = {}

        def ask(arguments: dict[str, Any]) -> dict[str, Any]:
            key = canonical_json(arguments)
            if key not in known:
                outcome = self.worker.run_episode([Call(tool=tool.name, arguments=arguments)], image=image)
                known[key] = outcome.steps[0].observation if outcome.steps else {}
            return known[key]

        explained = explain(tool, self.database, self.hands.brief.state, ask, self.seed)
        explained = explained.model_copy(update={"evidence": (*tool.evidence, "deterministic")})
        self.result.tools.append(explained)
        self.hands.kept.append(explained)


def _faults(checked: CodingResult, failed: Sequence[ToolTest]) -> list[str]:
    """Return what the coder is told: the failing tests with what the sandbox said, else the gate that said no."""
    if not failed:
        return [f"gate {rejection.gate}: {rejection.reason}" for rejection in checked.rejections]
    return [f"{_owner(test)} test {canonical_json(_plain(test))}: {test.message}" for test in failed]


def _owner(test: ToolTest) -> str:
    return "your own" if test.author == "coder" else "the tester's"


def _plain(test: ToolTest) -> dict[str, Any]:
    shown = test.model_dump(mode="json", include={"name", "setup", "arguments", "error", "observation", "sql"})
    return {name: value for name, value in shown.items() if value}
