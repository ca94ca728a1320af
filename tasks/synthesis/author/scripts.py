"""Scripts that a model wrote: what is looked at before they run, and how they run in the sandbox."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from schemas.task import Change
from tasks.sandbox import Limits, SandboxError, SandboxWorker
from tasks.synthesis.atlas import Atlas

GOAL_LIMITS = Limits(cpu_s=6.0, script_s=10.0, script_calls=200)
"""What a script of a model may use; a good one needs a small part of it."""

ALLOWED_IMPORTS = (
    "__future__", "bisect", "calendar", "collections", "datetime", "decimal", "fractions", "functools", "itertools",
    "json", "math", "operator", "re", "statistics", "string", "typing",
)  # fmt: skip
"""Modules that a script may import: none reaches the system or the network. The sandbox holds without this list."""

MOST_ROWS = 20_000
"""Rows of a state that is handed to a checking script."""

_TRACED = """

def _line(error):
    found = [f"line {frame.lineno}: " for frame in _frames(error) if frame.filename == "<script>"]
    return f"{found[-1] if found else ''}{type(error).__name__}: {error}"


def _frames(error):
    import traceback

    return traceback.extract_tb(error.__traceback__)[1:]
"""
_SOLVE = (
    _TRACED
    + """

_written = solve


def solve(call):
    try:
        return _written(call)
    except Exception as error:
        raise RuntimeError(_line(error)) from None
"""
)
_VERIFY = (
    _TRACED
    + """

def changed(before, after):
    found = []
    for table, keyed in _KEYS.items():
        old = {row[keyed]: row for row in before[table]}
        new = {row[keyed]: row for row in after[table]}
        for key in [*old, *(key for key in new if key not in old)]:
            if old.get(key) != new.get(key):
                found.append({"table": table, "key": key, "before": old.get(key), "after": new.get(key)})
    return found


def solve(call):
    given = call("inputs")
    before, after = given["before"], dict(given["before"])
    for change in given["changes"]:
        keyed = _KEYS[change["table"]]
        rows = [row for row in after[change["table"]] if row[keyed] != change["key"]]
        if change["after"] is not None:
            place = [row[keyed] for row in after[change["table"]]]
            place = place.index(change["key"]) if change["key"] in place else len(rows)
            rows.insert(place, change["after"])
        after[change["table"]] = rows
    try:
        return {"checks": verify(before, after, given["answer"])}
    except Exception as error:
        return {"fault": _line(error)}
"""
)


def script_fault(source: str, function: str, parameters: tuple[str, ...]) -> str:
    """Return why a source is no script that may run, or ''. It must define one function with these parameters."""
    try:
        tree = ast.parse(source)
        compile(source, "<script>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        return f"It is no Python: {f'line {line}: ' if line else ''}{error.args[0] if error.args else error}."
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if len(found) != 1 or [arg.arg for arg in found[0].args.args] != list(parameters):
        return f"It must define one function `def {function}({', '.join(parameters)})` at its top level."
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or "."]
            for name in names:
                if name.partition(".")[0] not in ALLOWED_IMPORTS:
                    return f"Line {node.lineno}: it imports {name}; allowed are {', '.join(ALLOWED_IMPORTS)}."
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            return f"Line {node.lineno}: it uses the attribute {node.attr}."
        if isinstance(node, ast.Name) and node.id in ("eval", "exec", "open", "compile", "__import__", "globals"):
            return f"Line {node.lineno}: it uses {node.id}."
    return ""


def traced(source: str) -> str:
    """Return a solution whose errors name the line of the source in which they came up."""
    return source + _SOLVE


def called_tools(source: str) -> list[str]:
    """Return the names of the tools that a solution calls by a literal name, in order."""
    return [
        node.args[0].value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "call" and node.args
        and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
    ]  # fmt: skip


def constructs(source: str) -> set[str]:
    """Return which of loop, conditional and aggregation a solution holds."""
    nodes = list(ast.walk(ast.parse(source)))
    found = set()
    if any(isinstance(node, ast.For | ast.While | ast.comprehension) for node in nodes):
        found.add("loop")
    if any(isinstance(node, ast.If | ast.IfExp) for node in nodes):
        found.add("conditional")
    names = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    if names & {"sum", "len", "max", "min", "sorted"}:
        found.add("aggregation")
    return found


class Checker:
    """Runs a checking script `def verify(before, after, answer)` on outcomes, each in a process of its own.

    So it is a function of the outcome alone: it cannot count how often, or after what, it was asked.
    """

    def __init__(self, worker: SandboxWorker, atlas: Atlas) -> None:
        self.worker = worker
        self.keys = {table.name: table.key for table in atlas.database.tables if not table.log}
        self._before: dict[str, list[Mapping[str, Any]]] = {name: list(atlas.rows[name]) for name in self.keys}
        if documents := atlas.documents():
            shown = [{"name": name, "title": title, "content": text} for name, title, text in documents]
            self._before.setdefault("documents", shown)

    @property
    def fits(self) -> bool:
        """Whether the state is small enough to be handed over."""
        return sum(len(rows) for rows in self._before.values()) <= MOST_ROWS

    def check(self, source: str, answer: Mapping[str, Any] | None, changes: tuple[Change, ...]) -> tuple[bool, str]:
        """Return whether a script accepts an outcome, and its fault: '' if it gave a well-formed verdict."""
        inputs = {
            "before": self._before,
            "changes": [change.model_dump(mode="json") for change in changes if change.table in self.keys],
            "answer": dict(answer or {}),
        }
        script = f"{source}\n\n_KEYS = {self.keys!r}\n{_VERIFY}"
        try:
            with self.worker.episode() as episode:
                outcome = episode.script(script, {"inputs": lambda _: inputs})
        except SandboxError as error:
            return False, str(error)
        if outcome.error:
            return False, outcome.error
        found = outcome.answer or {}
        if "fault" in found:
            return False, str(found["fault"])[:300]
        checks = found.get("checks")
        if not isinstance(checks, dict) or not checks or not all(isinstance(held, bool) for held in checks.values()):
            return False, "verify must return a dict of check name -> bool that is not empty"
        return all(checks.values()), ""
