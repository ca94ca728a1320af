"""A model's tests as `ToolTest`s: what they expect by SQL is computed over the initial state, in the sandbox."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

from schemas.tool import Tool, ToolTest
from tasks.coding.answers import WrittenTest
from tasks.coding.query import Queries

FEWEST_TESTS, MOST_TESTS = 3, 14
_CUT = 200
_SQL = "$sql"


def written_faults(tests: Sequence[WrittenTest], tool: Tool, known: Collection[str], queries: Queries) -> list[str]:
    """Return what is wrong with a hand's tests before the tool is run; nothing if all is well.

    Args:
        tool: the tool as planned.
        known: names of tools that setup calls may use.
    """
    faults = []
    if not FEWEST_TESTS <= len(tests) <= MOST_TESTS:
        faults.append(f"{len(tests)} tests: give {FEWEST_TESTS} to {MOST_TESTS}")
    if not any(test.kind == "normal" for test in tests):
        faults.append("no test is of the kind normal")
    if not any(test.error for test in tests):
        faults.append("no test expects a refusal; INVALID_ARGUMENTS for a missing or unknown parameter always can be")
    names = [test.name for test in tests]
    faults += [f"the name {name} comes twice" for name in dict.fromkeys(n for n in names if names.count(n) > 1)]
    for test in tests:
        faults += [f"test {test.name}: {fault}" for fault in _faults(test, tool, known, queries)]
    return faults


def _faults(test: WrittenTest, tool: Tool, known: Collection[str], queries: Queries) -> list[str]:
    faults = []
    extra = set(test.arguments) - set(tool.parameters["properties"])
    missing = set(tool.parameters["required"]) - set(test.arguments)
    if test.error != "INVALID_ARGUMENTS" and extra | missing:
        faults.append(f"the arguments {sorted(extra | missing)} are not the tool's, or are required and not given")
    if (test.kind == "refusal") != bool(test.error) and test.kind != "boundary":
        faults.append("a refusal test, and no normal one, has an error")
    if test.error and (test.expect or test.after):
        faults.append("a refusal has no expect and no after: that nothing changed is checked anyway")
    if not test.error and not test.expect and not test.after:
        faults.append("it expects nothing")
    faults += [f"setup calls {step.tool!r}, which is no tool" for step in test.setup if step.tool not in known]
    for given in (test.arguments, *(step.arguments for step in test.setup)):
        for sql in asked_in(given):
            (values, fault), *_ = queries.run([sql])
            if fault or not values:
                faults.append(f"the argument {sql[:_CUT]!r} {f'cannot be run: {fault}' if fault else 'gives no row'}")
    asked = [e for e in (*test.expect, *test.after) if e.sql]
    for expected, (values, fault) in zip(asked, queries.run([e.sql for e in asked]), strict=True):
        if fault:
            faults.append(f"{expected.sql[:_CUT]!r} cannot be run: {fault}")
        elif not values and "[]" not in getattr(expected, "path", ""):
            faults.append(f"{expected.sql[:_CUT]!r} gives no row")
    return faults


def asked_in(arguments: Any) -> list[str]:
    """Return the queries of arguments that are {"$sql": "SELECT ..."}, at any depth."""
    if isinstance(arguments, dict):
        sql = arguments.get(_SQL)
        if len(arguments) == 1 and isinstance(sql, str):
            return [sql]
        arguments = list(arguments.values())
    return [sql for value in arguments for sql in asked_in(value)] if isinstance(arguments, list) else []


def _answered(arguments: Any, queries: Queries) -> Any:
    """Return arguments with the first value that each query in them gives over the initial state in its place."""
    if isinstance(arguments, list):
        return [_answered(value, queries) for value in arguments]
    if not isinstance(arguments, dict):
        return arguments
    if len(arguments) == 1 and isinstance(arguments.get(_SQL), str):
        return _value(None, arguments[_SQL], queries, False)
    return {name: _answered(value, queries) for name, value in arguments.items()}


def make_tests(
    tests: Sequence[WrittenTest], tool: Tool, author: Literal["coder", "tester"], queries: Queries
) -> list[ToolTest]:
    """Return tests that passed `written_faults`. A refusal, and any call of a reading tool, must change nothing."""
    return [
        ToolTest(
            env_id=tool.env_id,
            tool=tool.name,
            name=test.name,
            kind=test.kind,
            author=author,
            setup=tuple({"tool": step.tool, "arguments": _answered(step.arguments, queries)} for step in test.setup),
            arguments=_answered(test.arguments, queries),
            error=test.error,
            observation={e.path: _value(e.value, e.sql, queries, "[]" in e.path) for e in test.expect},
            sql=tuple((a.query, _value(a.value, a.sql, queries, False)) for a in test.after),
            unchanged=bool(test.error) or not tool.writes,
        )
        for test in tests
    ]


def _value(value: Any, sql: str, queries: Queries, many: bool) -> Any:
    if not sql:
        return value
    values, _ = queries.run([sql])[0]
    return values if many else values[0]


def plain_properties(tool: Tool, tests: Sequence[ToolTest]) -> list[ToolTest]:
    """Return the tests that rules add to a model's: what the schema refuses, and the same answer to the same call.

    Args:
        tests: the coder's own.
    """
    common: dict[str, Any] = {"env_id": tool.env_id, "tool": tool.name, "author": "tester"}
    refused: list[tuple[str, dict[str, Any]]] = [("extra", {"no_such_parameter": 1})]
    if tool.parameters["required"]:
        refused.append(("missing", {}))
    found = [
        ToolTest(**common, name=f"property_refuses_{what}_arguments", kind="refusal", arguments=arguments,
                 error="INVALID_ARGUMENTS", unchanged=True)
        for what, arguments in refused
    ]  # fmt: skip
    for test in tests:
        if not tool.writes and not test.error and not test.setup:
            again = ({"tool": tool.name, "arguments": test.arguments},)
            update = {"name": f"property_again_{test.name}", "kind": "property", "setup": again, "author": "tester"}
            found.append(test.model_copy(update=update))
    return found
