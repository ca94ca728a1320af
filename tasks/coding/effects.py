"""Which tables a tool's SQL reads and writes, found in its source."""

from __future__ import annotations

import ast
import re

_TABLE = r"(?:\"[^\"]+\"|\w+|\{)"
_READS = re.compile(rf"\b(?:FROM|JOIN)\s+({_TABLE}(?:(?:\s+(?:AS\s+)?\w+)?\s*,\s*{_TABLE})*)", re.IGNORECASE)
_LISTED = re.compile(rf"(?:^|,\s*)({_TABLE})")
_WRITES = re.compile(
    r"\b(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM)\s+(?!SET\b)"
    r"(\"[^\"]+\"|\w+|\{)", re.IGNORECASE,
)  # fmt: skip
_STATEMENT = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?:\bWITH(?:\s+RECURSIVE)?|,)\s+(\w+)\s*(?:\([^()]*\))?\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s+)?\(",
                    re.IGNORECASE)  # fmt: skip


def statements(source: str) -> list[str]:
    """Return the texts of a module that are SQL; what an f-string fills in stands as "{}"."""
    found = []
    tree = ast.parse(source)
    told = set()  # docstrings and messages may begin with a word of SQL
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            told.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "refuse":
            told |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        text = ""
        if id(node) in told:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        if _STATEMENT.match(text):
            found.append(text)
    return found


def tables_used(source: str) -> tuple[set[str], set[str]]:
    """Return (tables read, tables written) by a module's SQL. A table whose name is filled in counts as "{"."""
    reads: set[str] = set()
    writes: set[str] = set()
    for text in statements(source):
        written = {_bare(name) for name in _WRITES.findall(text)}
        writes |= written
        rest = re.sub(r"\bDELETE\s+FROM\s+\S+", "", text, flags=re.IGNORECASE)
        named = {name.lower() for name in _NAMED.findall(text)}
        listed = {name for names in _READS.findall(rest) for name in _LISTED.findall(names)}
        reads |= {_bare(name) for name in listed if name.lower() not in named}
    if "ctx.documents" in ast.unparse(ast.parse(source)):
        reads.add("documents")
    return reads, writes


def _bare(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def declared_fault(reads: tuple[str, ...], writes: tuple[str, ...], source: str) -> str:
    """Return where the declared reads and writes differ from what the source's SQL names; '' if they agree."""
    used, changed = tables_used(source)
    for what, declared, found in (("reads", reads, used), ("writes", writes, changed)):
        hidden, unused = found - set(declared), set(declared) - found
        if hidden:
            return f"its SQL {what} {sorted(hidden)}, which it does not declare"
        if unused:
            return f"it declares that it {what} {sorted(unused)}, but no SQL of it does"
    return ""
