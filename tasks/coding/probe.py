"""What a tool returned in its tests, against what it declares: its outputs are exact, and real keys return data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.tool import Tool
from tasks.coding.snapshot import State

_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,), "number": (int, float), "string": (str,), "boolean": (bool,), "array": (list,),
    "object": (dict,),
}  # fmt: skip


def output_fault(tool: Tool, observations: Sequence[dict[str, Any]]) -> str:
    """Return how the places in a tool's answers differ from its declared outputs; '' if they agree."""
    declared = {field.path: field.type for field in tool.outputs}
    seen: set[str] = set()
    for observation in observations:
        if "error" in observation:
            continue
        for path, value in _places(observation):
            if path not in declared:
                return f"it returns {path!r}, which its outputs do not declare"
            if value is not None and not isinstance(value, _TYPES[declared[path]]):
                return f"{path} is {value!r}, declared as {declared[path]}"
            seen.add(path)
    absent = [path for path in declared if path not in seen and "[]" not in path]
    if seen and absent:
        return f"it declares the outputs {absent}, but never returned them"
    return ""


def _places(value: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, item in value.items():
        path = f"{prefix}{name}"
        if isinstance(item, dict):
            found += _places(item, f"{path}.")
            continue
        found.append((path, item))
        if isinstance(item, list):
            for element in item:
                found += _places(element, f"{path}[].") if isinstance(element, dict) else [(f"{path}[]", element)]
    return found


def probe_fault(tool: Tool, answers: Sequence[tuple[dict[str, Any], dict[str, Any]]], state: State) -> str:
    """Return why a tool has not shown that real arguments give data; '' if it has.

    Args:
        tool: the tool.
        answers: (arguments, observation) of its tests.
        state: the initial state; where the tool's table is empty there is nothing to find.
    """
    if tool.table and not state.get(tool.table) and tool.kind != "create":
        return ""
    good = [observation for _, observation in answers if "error" not in observation]
    if not good:
        return "no test got an answer other than a refusal"
    if tool.kind in ("search", "list") and not any(observation.get(tool.table) for observation in good):
        return f"no test got a row of {tool.table}"
    if tool.kind == "aggregate" and all(observation.get("value") is None for observation in good):
        return "no test got a value"
    return ""
