"""Tool modules: compiled, and told apart by whether an episode could leave something behind in one."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType

_REACHING = {"globals", "vars", "locals", "exec", "eval", "setattr", "delattr", "__import__", "compile"}
_MAKERS = {"re.compile", "frozenset"}


def compile_tools(sources: Mapping[str, str]) -> dict[str, CodeType | str]:
    """Compile each tool's module without running it; for one that does not compile, the reason stands instead."""
    compiled: dict[str, CodeType | str] = {}
    for name, source in sources.items():
        try:
            compiled[name] = compile(source, f"<tool {name}>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            compiled[name] = f"{type(error).__name__}: {error}"
    return compiled


def _is_constant(node: ast.expr | None) -> bool:
    """Say whether an expression's value can never change: literals, tuples of such, patterns and frozen sets."""
    if isinstance(node, ast.Call):
        made = ast.unparse(node.func) in _MAKERS
        return made and not node.keywords and all(_is_constant(a) or isinstance(a, ast.Set) for a in node.args)
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    return node is None or isinstance(node, ast.Constant)


def _is_fixed(statement: ast.stmt) -> bool:
    """Say whether a module's statement only imports, or binds names to functions and constants."""
    if isinstance(statement, ast.FunctionDef):
        defaults = [*statement.args.defaults, *statement.args.kw_defaults]
        return not statement.decorator_list and all(map(_is_constant, defaults))
    if isinstance(statement, ast.Assign):
        return all(isinstance(t, ast.Name) for t in statement.targets) and _is_constant(statement.value)
    if isinstance(statement, ast.AnnAssign):
        return isinstance(statement.target, ast.Name) and _is_constant(statement.value)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Import | ast.ImportFrom)


def keeps_nothing(source: str) -> bool:
    """Say whether a tool's module is the same after any calls as before, so that the next episode may use it too.

    True only if it can be seen from the text: the module binds imports, undecorated functions and constants, and no
    function declares a global, reaches for a namespace, or stores into an attribute of something bound in the module.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if not all(map(_is_fixed, tree.body)):
        return False
    bound = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    bound |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Global | ast.Nonlocal) or (isinstance(node, ast.Name) and node.id in _REACHING):
            return False
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            return False
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            base = node.value
            while isinstance(base, ast.Attribute | ast.Subscript | ast.Call):
                base = base.func if isinstance(base, ast.Call) else base.value
            if not isinstance(base, ast.Name) or base.id in bound:
                return False
    return True
