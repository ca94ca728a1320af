"""Tools by models: one plans and writes, another tests, and what disagrees is mended within a budget.

Rules decide: what the models write is data until it has passed every gate of the cross-check, and it runs in the
sandbox only. A step that a model fails is played by rules, or left out, with a rejection that says why.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from schemas.base import canonical_json
from schemas.database import Database
from schemas.environment import Rejection
from schemas.task import Call
from schemas.theme import Theme
from schemas.tool import Tool, ToolTest
from tasks.coding.acting import acting, action_of
from tasks.coding.answers import PlannedTool, WrittenTest
from tasks.coding.briefing import make_briefing
from tasks.coding.crosscheck import NOT_RUN, CodingResult, crosscheck
from tasks.coding.drafts import draft_tool
from tasks.coding.hands import Hands, Work
from tasks.coding.handwritten import make_tests, plain_properties
from tasks.coding.meanings import explain
from tasks.coding.properties import write_properties
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
        work.action = action_of(plan, plan.action) if plan.action is not None else None
        while True:
            checked = self._check(work)
            if checked.tools:
                self._accept(checked, other, work)
                return
            if work.repairs >= REPAIRS and work.action is not None:
                work.action = None  # it may be a good tool all the same
                continue
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
            faults = _faults(checked, failed, work.tests)
            if work.unchanged:
                faults.insert(
                    0, f"you sent the same as before, so it fails as before: round {work.repairs} of {REPAIRS}"
                )
            written = self.hands.revise(work, faults)
            returns = written.returns or work.plan.returns
            same = written.model_copy(update={"returns": work.written.returns}) == work.written
            work.unchanged = same and returns == work.plan.returns
            work.plan = work.plan.model_copy(update={"returns": returns})
            work.written, work.reviewed = written, False

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
        database = self.database
        if work.action is not None:
            database = database.model_copy(update={"actions": (work.action,)})
            tool = acting(tool, work.action, database)
            tests += write_properties(database, self.snapshot, [tool], self.seed)
        return crosscheck(
            database, self.snapshot, [tool], tests, self.worker, seed=self.seed, mutants_per_tool=self.mutants,
            beside=self.hands.kept,
        )  # fmt: skip

    def _accept(self, checked: CodingResult, other: SandboxWorker, work: Work) -> None:
        """Keep a tool that passed, if it does the same with another hash seed and clock; say what its fields mean."""
        (tool,) = checked.tools
        self.result.tests.extend(checked.tests)
        image = EnvironmentImage.of(self.database, [*self.hands.kept, tool], self.snapshot)
        for test in checked.tests:
            calls = [*(Call(**step) for step in test.setup), Call(tool=tool.name, arguments=test.arguments)]
            if test.state:
                continue  # another state than the image's
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
        if work.action is not None:
            self.result.actions.append(work.action)
        elif explained.kind in ("read", "write"):
            self._reject(f"use of {tool.name}", "meaning", _unused(explained, work.plan))


def _faults(checked: CodingResult, failed: Sequence[ToolTest], tests: Sequence[WrittenTest]) -> list[str]:
    """Return what the coder is told: the failing tests with what the sandbox said, else the gate that said no."""
    if not failed:
        return [f"gate {rejection.gate}: {rejection.reason}" for rejection in checked.rejections]
    theirs = {test.name for test in tests}
    return [f"{_owner(test, theirs)} test {canonical_json(_plain(test))}: {test.message}" for test in failed]


def _owner(test: ToolTest, theirs: Collection[str]) -> str:
    if test.author == "coder":
        return "your own"
    return "the tester's" if test.name in theirs else "a rule's"


def _unused(tool: Tool, plan: PlannedTool) -> str:
    """Return why a tool that is kept is used in no tasks but those whose scripts a model writes."""
    if tool.kind == "read":
        return (
            "kept; what it returns is no row, list or statistic that rules can compute too, so they ask for none of it"
        )
    if plan.action is None:
        return "kept; its plan declares no action, so rules cannot tell what it changes"
    return "kept; its code does not do what the action of its plan says, so rules cannot tell what it changes"


def _plain(test: ToolTest) -> dict[str, Any]:
    shown = test.model_dump(mode="json", include={"name", "setup", "arguments", "error", "observation", "sql"})
    return {name: value for name, value in shown.items() if value}
