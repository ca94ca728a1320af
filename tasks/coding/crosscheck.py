"""Cross-validation: a tool is kept only if every gate says yes, and its tests notice faults planted in it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from schemas.actions import check_actions
from schemas.database import Action, Database
from schemas.environment import Rejection
from schemas.task import Change
from schemas.tool import Tool, ToolTest
from tasks.coding.effects import declared_fault
from tasks.coding.examples import by_parameter
from tasks.coding.gates import agrees_with_schema, compiles, imports_little
from tasks.coding.hidden_reads import Run, hidden_reads
from tasks.coding.interpreter import MINTED, perform
from tasks.coding.mutants import Mutant, mutants
from tasks.coding.probe import output_fault, probe_fault
from tasks.coding.query import query_tool
from tasks.coding.snapshot import Reader, State
from tasks.coding.trial import Result, Trial, same
from tasks.coding.typecheck import type_fault
from tasks.environment import EnvironmentImage
from tasks.sandbox import SandboxWorker

MUTATION_FLOOR = 0.5
MUTANTS_PER_TOOL = 6
NOT_RUN = "not run: the tool was rejected before"


@dataclass(frozen=True)
class CodingResult:
    """What crosscheck decided: the tools kept, all tests with their results, and why each other tool was rejected.

    `actions` are those of kept tools that models declared and the tests bore out; the database has them not yet.
    """

    tools: list[Tool] = field(default_factory=list)
    tests: list[ToolTest] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)


def crosscheck(
    database: Database,
    snapshot: bytes,
    tools: Sequence[Tool],
    tests: Sequence[ToolTest],
    worker: SandboxWorker,
    *,
    seed: int = 0,
    mutants_per_tool: int = MUTANTS_PER_TOOL,
    beside: Sequence[Tool] | None = None,
) -> CodingResult:
    """Decide which tools of an environment are kept.

    The gates, in order: specification (the action fits the tables, and somebody wrote a tool for it), compile,
    imports, schema, types (of what rules did not write), effects (SQL in the source against the declaration), tests
    (all of them pass in the sandbox; timeout, memory, killed or output if the sandbox ended one), effects again
    (tables that really changed or were read), properties (writes leave exactly what rules and effects say), probe
    (real keys return data), mutation (at least half of the planted faults are noticed).

    Args:
        database, snapshot: the environment.
        tools, tests: what a coder and a tester wrote.
        worker: a sandbox; the environment is loaded into it.
        seed: draws the mutants.
        mutants_per_tool: at most so many; 0 leaves the mutation gate out.
        beside: tools that were kept before: tests may call them, and no action is asked of `tools`. None: `tools` are
            all that there are.

    Raises:
        SandboxError: if the sandbox itself does not start or refuses the code.
        sqlite3.DatabaseError: if the snapshot is no SQLite file or lacks a table of the database.
    """
    return _Crosscheck(database, snapshot, worker, seed, mutants_per_tool, beside).decide(tools, tests)


class _Crosscheck:
    def __init__(self, database: Database, snapshot: bytes, worker: SandboxWorker, seed: int, most: int,
                 beside: Sequence[Tool] | None) -> None:  # fmt: skip
        self.whole, self.beside = beside is None, list(beside or ())
        self.database, self.snapshot, self.worker, self.seed, self.most = database, snapshot, worker, seed, most
        self.rejections: list[Rejection] = []
        with Reader(snapshot) as reader:
            self.state: State = reader.state(database)

    def decide(self, tools: Sequence[Tool], tests: Sequence[ToolTest]) -> CodingResult:
        if self.whole:
            self._missing_actions(tools)
        sound = [tool for tool in self._unique(tools) if self._static(tool)]
        image = self._image(sound)
        by_tool: dict[str, list[ToolTest]] = {}
        for test in tests:
            by_tool.setdefault(test.tool, []).append(test)
        results: dict[str, list[Result]] = {}
        passed: list[tuple[Tool, list[str]]] = []
        with Trial(self.database, self.snapshot, self.worker) as trial:
            for tool in sound:
                results[tool.name] = trial.run(image, by_tool.get(tool.name, []))
                evidence = self._dynamic(tool, results[tool.name], partial(trial.run, image))
                if evidence:
                    passed.append((tool, evidence))
            scores = self._mutate([tool for tool, _ in passed], by_tool, trial)
        accepted = []
        for tool, evidence in passed:
            score, survivors = scores.get(tool.name, (None, []))
            if score is not None and score < MUTATION_FLOOR:
                told = "; ".join(survivors[:3])
                self._reject(tool.name, "mutation", f"its tests notice only {score:.0%} of planted faults: {told}")
                continue
            kept = evidence if score is None else [*evidence, "mutation"]
            count = len(by_tool[tool.name])
            update = {"tests_passed": count, "tests_total": count, "mutation_score": score, "evidence": tuple(kept)}
            accepted.append(tool.model_copy(update=update))
        return CodingResult(accepted, _with_results(tests, results), self.rejections)

    def _image(self, tools: Sequence[Tool]) -> EnvironmentImage:
        """Return the environment with these tools and those beside them, and with the one for a model's queries."""
        found = [*self.beside, *tools]
        if any(tool.author != "rules" for tool in tools):
            found.append(query_tool(self.database.env_id))
        return EnvironmentImage.of(self.database, found, self.snapshot)

    def _reject(self, name: str, gate: str, reason: str) -> bool:
        self.rejections.append(
            Rejection(stage="coding", key=name, gate=gate, reason=reason, env_id=self.database.env_id)
        )
        return False

    def _missing_actions(self, tools: Sequence[Tool]) -> None:
        written = {tool.action for tool in tools}
        problems = check_actions(self.database)
        for name in dict.fromkeys(action.name for action in self.database.actions):
            told = [line for line in problems if line.startswith(f"{name}: ")]
            if name not in written:
                self._reject(name, "specification", "; ".join(told) or "no tool was written for this action")

    def _unique(self, tools: Sequence[Tool]) -> list[Tool]:
        seen: dict[str, Tool] = {}
        taken = {tool.name for tool in self.beside}
        for tool in tools:
            if tool.name in seen or tool.name in taken:
                self._reject(tool.name, "schema", "another tool of this environment has the same name")
            else:
                seen[tool.name] = tool
        return list(seen.values())

    def _static(self, tool: Tool) -> bool:
        for gate, check in (("compile", compiles), ("imports", imports_little), ("schema", agrees_with_schema)):
            fault = check(tool)
            if fault:
                return self._reject(tool.name, gate, fault)
        fault = type_fault(tool) if tool.author != "rules" else ""
        if fault:
            return self._reject(tool.name, "types", fault)
        fault = declared_fault(tool.reads, tool.writes, tool.source_code)
        return self._reject(tool.name, "effects", fault) if fault else True

    def _dynamic(self, tool: Tool, results: list[Result], run: Run) -> list[str]:
        """Return the evidence that a tool's run gives; nothing (and a rejection) if a gate says no."""
        if not results:
            self._reject(tool.name, "tests", "there are no tests of this tool")
            return []
        failed = [result for result in results if result.message]
        if failed:
            first = failed[0]
            more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
            gate = first.broke or ("properties" if first.test.kind == "property" else "tests")
            self._reject(tool.name, gate, f"{first.test.author}'s {first.test.name}: {first.message}{more}")
            return []
        answers = [(result.test.arguments, result.observation) for result in results]
        for gate, fault in (
            ("effects", self._effects_fault(tool, results) or hidden_reads(self.database, tool, results, run)),
            ("properties", self._difference_fault(tool, results)),
            ("schema", output_fault(tool, [observation for _, observation in answers])),
            ("probe", probe_fault(tool, answers, self.state)),
        ):
            if fault:
                self._reject(tool.name, gate, fault)
                return []
        typed = ["types"] if tool.author != "rules" else []
        return ["compile", "imports", "schema", *typed, "effects", "tests", "properties", "probe"]

    def _effects_fault(self, tool: Tool, results: list[Result]) -> str:
        logs = {table.name for table in self.database.tables if table.log}
        changed = {change.table for result in results if not result.test.setup for change in result.changes}
        hidden = changed - set(tool.writes)
        if hidden:
            return f"it changed {sorted(hidden)}, which it does not declare"
        happened = any(not result.test.error and not result.test.setup for result in results)
        unused = set(tool.writes) - changed - logs
        if tool.writes and happened and (tool.table in unused or (unused and tool.kind == "write")):
            return f"it declares that it writes {sorted(unused)}, but no test saw it do so"
        return ""

    def _difference_fault(self, tool: Tool, results: list[Result]) -> str:
        """Compare what a write changed, row by row, with what the interpreter of rules and effects says."""
        action = next((action for action in self.database.actions if action.name == tool.action), None)
        if action is None:
            return ""
        columns = {parameter: column for column, parameter in by_parameter(tool).items()}
        for result in results:
            if result.test.error or result.test.setup or result.test.state:
                continue
            given = {columns[name]: value for name, value in result.test.arguments.items() if name in columns}
            outcome = perform(self.database, action, self.state, given, self.database.start_time)
            table = self.database.table(action.table)
            minted = result.observation.get(table.key) if action.kind == "create" else None
            expected = {
                (name, minted if key == MINTED else key): {c: minted if v == MINTED else v for c, v in row.items()}
                for (name, key), row in outcome.rows.items()
            }
            fault = _unlike(expected, result.changes, self.state, {t.name for t in self.database.tables if t.log})
            if fault:
                return f"{result.test.name}: {fault}"
        return ""

    def _mutate(self, tools: list[Tool], tests: dict[str, list[ToolTest]], trial: Trial
                ) -> dict[str, tuple[float | None, list[str]]]:  # fmt: skip
        """Return for each tool the share of its mutants that its tests notice, and the changes that they miss."""
        if not self.most or not tools:
            return {}
        planted: dict[str, list[Mutant]] = {
            tool.name: mutants(tool.source_code, tool.name, self.seed, self.most) for tool in tools
        }
        copies = [
            tool.model_copy(update={"name": mutant.name, "source_code": mutant.source})
            for tool in tools
            for mutant in planted[tool.name]
        ]
        image = self._image([*tools, *copies])
        scores: dict[str, tuple[float | None, list[str]]] = {}
        for tool in tools:
            order = list(tests[tool.name])
            random.Random(f"order-{self.seed}").shuffle(order)
            missed = []
            for mutant in planted[tool.name]:
                results = trial.run(image, order, mutant.name, stop=True)
                if not any(result.message for result in results):
                    missed.append(mutant.change)
            total = len(planted[tool.name])
            scores[tool.name] = ((total - len(missed)) / total if total else None, missed)
        return scores


def _unlike(expected: dict[tuple[str, Any], dict[str, Any]], changes: Sequence[Change], state: State,
            logs: set[str]) -> str:  # fmt: skip
    """Return how the changes differ from the rows that were expected to change; '' if they are the same."""
    found = {(change.table, change.key): change.after for change in changes}
    wanted = {
        place: row
        for place, row in expected.items()
        if place[0] not in logs and not same(state[place[0]].get(place[1]), row)
    }
    for place in found.keys() | wanted.keys():
        table, key = place
        if place not in wanted:
            return f"the row {key!r} of {table} changed, which no effect says"
        if place not in found:
            return f"the row {key!r} of {table} did not change as an effect says"
        if not same(found[place], wanted[place]):
            cells = [c for c, v in wanted[place].items() if not same((found[place] or {}).get(c), v)]
            return f"the row {key!r} of {table} has other values than the effects say in {cells}"
    return ""


def _with_results(tests: Sequence[ToolTest], results: dict[str, list[Result]]) -> list[ToolTest]:
    """Return the tests with what came out; those that were never run say so."""
    messages = {id(result.test): result.message for found in results.values() for result in found}
    told = []
    for test in tests:
        message = messages.get(id(test), NOT_RUN)
        told.append(test.model_copy(update={"passed": not message, "message": message}))
    return told
