"""Source text of tools: Jinja2 templates and the layout of signatures, docstrings and calls."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.coding.signature import Parameter

WIDTH = 100


@lru_cache(maxsize=1)
def _templates() -> Environment:
    """Return the templates; `<< >>` and `<% %>` leave Python's own braces alone."""
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, variable_start_string="<<", variable_end_string=">>",
        block_start_string="<%", block_end_string="%>", comment_start_string="<#", comment_end_string="#>",
        autoescape=False,
    )  # fmt: skip


def render(template: str, **values: Any) -> str:
    """Return the module text that a template makes of the values.

    Raises:
        jinja2.UndefinedError: if a value that the template names is missing.
    """
    return _templates().get_template(f"{template}.py.j2").render(**values)


def render_tool(template: str, environment: str, name: str, parameters: Sequence[Parameter], text: str,
                **values: Any) -> str:  # fmt: skip
    """Return a tool's module: its name, signature and docstring (the description `text`) around a template's body."""
    clean = " ".join(environment.replace("\\", "/").replace('"', "'").split())
    return render(
        template, environment=clean, name=name, signature=signature(name, parameters), docstring=docstring(text),
        **values,
    )  # fmt: skip


def docstring(text: str, indent: int = 4) -> str:
    """Return a description as docstring lines: a first line, then paragraphs, wrapped."""
    text = text.replace("\\", "/").replace('"""', "'''")
    head, _, rest = text.partition(". ")
    space = " " * indent
    lines = textwrap.wrap(f"{head.rstrip('.')}.", WIDTH - indent - 3)
    if rest:
        lines += ["", *textwrap.wrap(rest, WIDTH - indent)]
    return "\n".join(f"{space if place else ''}{line}".rstrip() for place, line in enumerate(lines))


def signature(name: str, parameters: Sequence[Parameter]) -> str:
    """Return the `def` line of a tool, one parameter a line where it is long."""
    items = [f"{p.name}: {p.annotation}" + (f" = {p.default}" if p.default else "") for p in parameters]
    if not items:
        return f"def {name}(ctx: Any) -> dict[str, Any]:"
    line = f"def {name}(ctx: Any, *, {', '.join(items)}) -> dict[str, Any]:"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"def {name}(", "    ctx: Any,", "    *,", *(f"    {i}," for i in items), ") -> dict[str, Any]:"])


def call(target: str, arguments: Sequence[str], indent: int = 4) -> list[str]:
    """Return a call's lines, broken after the opening parenthesis and then by argument where it is long."""
    space = " " * indent
    line = f"{space}{target}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return [line]
    inner = f"{space}    {', '.join(arguments)}"
    if len(inner) <= WIDTH:
        return [f"{space}{target}(", inner, f"{space})"]
    return [f"{space}{target}(", *(f"{space}    {argument}," for argument in arguments), f"{space})"]


def mapping(name: str, pairs: Sequence[tuple[str, str]], indent: int = 4) -> list[str]:
    """Return the lines of a dict display with one pair a line."""
    space = " " * indent
    return [f"{space}{name} = {{", *(f"{space}    {text(k)}: {v}," for k, v in pairs), f"{space}}}"]


def values(items: Sequence[str]) -> str:
    """Return a tuple display."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def text(sql: str) -> str:
    """Return a string literal: in double quotes, unless single ones spare backslashes."""
    literal = json.dumps(sql, ensure_ascii=False)
    return f"'{sql}'" if literal == '"' + sql.replace('"', '\\"') + '"' and '"' in sql and "'" not in sql else literal


def refusal(code: str, message: str, indent: int = 8) -> list[str]:
    """Return the lines of a refusal with a fixed message."""
    return call("return ctx.refuse", [text(code), text(message)], indent)


def not_found(row: str, noun: str, words: str, parameter: str, indent: int = 4) -> list[str]:
    """Return the lines that refuse an unknown key."""
    space = " " * indent
    message = f'f"There is no {noun} with {words} {{{parameter}!r}}."'
    return [f"{space}if {row} is None:", *call("return ctx.refuse", [text("NOT_FOUND"), message], indent + 4)]
