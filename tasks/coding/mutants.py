"""Mutants of a tool's source: small faults that good tests must notice (mutation testing, DeMillo et al. 1978)."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip
_SQL = (
    (" + ?", " - ?"), (" - ?", " + ?"), (">= ", "> "), ("<= ", "< "), (" = ?", " <> ?"), ("COUNT(*)", "COUNT(*) + 1"),
    ("SUM(", "MAX("), ("AVG(", "MAX("), ("MIN(", "MAX("), ("MAX(", "MIN("), ("DESC", "ASC"), (" AND ", " OR "),
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A faulty copy of a tool: its source with the function renamed to `name`, and what was changed."""

    name: str
    source: str
    change: str


def mutants(source: str, name: str, seed: int, most: int = 10) -> list[Mutant]:
    """Return up to `most` mutants of a tool, drawn by seed so that kinds of change take turns.

    Each mutant's function is called "<name>__m<i>", so that all of them can be loaded beside the tool. Docstrings,
    messages and names are left alone. Sources that Python cannot write back are left out.
    """
    tree = ast.parse(source)
    by_kind: dict[str, list[tuple[int, str, Callable[[ast.AST], None]]]] = {}
    for place, (parent, node) in enumerate(_nodes(tree)):
        for kind, change, apply in _changes(parent, node):
            by_kind.setdefault(kind, []).append((place, change, apply))
    rng = random.Random(f"mutants-{seed}-{name}")
    for sites in by_kind.values():
        rng.shuffle(sites)
    queue = [by_kind[kind] for kind in sorted(by_kind)]
    found: list[Mutant] = []
    seen = {ast.unparse(tree)}
    while queue and len(found) < most:
        for sites in list(queue):
            if not sites:
                queue.remove(sites)
                continue
            place, change, apply = sites.pop()
            text = _mutated(source, place, apply)
            if text and text not in seen and len(found) < most:
                seen.add(text)
                label = f"{name}__m{len(found)}"
                found.append(Mutant(label, text.replace(f"def {name}(", f"def {label}(", 1), change))
    return found


def _mutated(source: str, place: int, apply: Callable[[ast.AST], None]) -> str:
    tree = ast.parse(source)
    apply(next(islice(_nodes(tree), place, None))[1])
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except ValueError:
        return ""


def _nodes(tree: ast.AST, parent: ast.AST | None = None) -> Iterator[tuple[ast.AST | None, ast.AST]]:
    """Yield (parent, node) of what may be changed, in a fixed order: no signature, docstring, message or import."""
    yield parent, tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.arguments | ast.Import | ast.ImportFrom | ast.AnnAssign):
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(tree, ast.FunctionDef) and child is tree.returns:
            continue
        if isinstance(tree, ast.Call) and _is_refusal(tree):
            continue
        yield from _nodes(child, tree)


def _is_refusal(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "refuse"


def _changes(parent: ast.AST | None, node: ast.AST) -> Iterator[tuple[str, str, Callable[[ast.AST], None]]]:
    """Yield (kind, description, function that applies it to the node)."""
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield "comparison", f"line {line}: comparison turned", _turn_comparison
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        yield "arithmetic", f"line {line}: operator swapped", _swap_operator
    elif isinstance(node, ast.BoolOp):
        yield "logic", f"line {line}: and/or swapped", _swap_logic
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "logic", f"line {line}: not removed", _remove_not
    elif isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return):
        refuses = node.body[-1].value is not None and _is_refusal(node.body[-1].value)
        yield "rule" if refuses else "branch", f"line {line}: {'rule' if refuses else 'branch'} dropped", _drop_branch
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "effect", f"line {line}: statement dropped", _drop_statement
    elif isinstance(node, ast.Dict) and len(node.keys) > 1 and not isinstance(parent, ast.Return):
        for place, key in enumerate(node.keys):
            shown = ast.unparse(key) if key is not None else "**"
            yield "entry", f"line {line}: entry {shown} dropped", lambda found, place=place: _drop_entry(found, place)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        if not (isinstance(parent, ast.Call) and ast.unparse(parent.func) == "round"):
            yield "constant", f"line {line}: {node.value} changed", _change_number
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        for old, new in _SQL:
            if old in node.value and not (old == "MAX(" and "COALESCE(MAX(" in node.value):
                text = _replace_last(node.value, old, new)
                yield "sql", f"line {line}: {old.strip()!r} became {new.strip()!r}", lambda n, t=text: _set(n, t)


def _turn_comparison(node: ast.AST) -> None:
    assert isinstance(node, ast.Compare)
    node.ops[0] = _COMPARISONS[type(node.ops[0])]()


def _swap_operator(node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp)
    node.op = _OPERATORS[type(node.op)]()


def _swap_logic(node: ast.AST) -> None:
    assert isinstance(node, ast.BoolOp)
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _remove_not(node: ast.AST) -> None:
    assert isinstance(node, ast.UnaryOp)
    node.op, node.operand = ast.Not(), ast.UnaryOp(op=ast.Not(), operand=node.operand)


def _drop_branch(node: ast.AST) -> None:
    assert isinstance(node, ast.If)
    node.test = ast.Constant(value=False)


def _drop_statement(node: ast.AST) -> None:
    assert isinstance(node, ast.Expr)
    node.value = ast.Constant(value=None)


def _drop_entry(node: ast.AST, place: int) -> None:
    assert isinstance(node, ast.Dict)
    del node.keys[place], node.values[place]


def _change_number(node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)
    node.value = node.value + 1


def _set(node: ast.AST, text: str) -> None:
    assert isinstance(node, ast.Constant)
    node.value = text


def _replace_last(text: str, old: str, new: str) -> str:
    head, _, tail = text.rpartition(old)
    return head + new + tail
