"""Type-checking a model's tool against the context that it is given: mypy reads the source, nothing of it runs.

The source is read without its comments, so that it cannot switch the check off, and `ctx: Any` stands for the real
context, so that a row which may be None, or a method that does not exist, is found before any test runs. A tool may end
with the row that it reads back; that it does give one is for the tests to see.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from functools import lru_cache
from pathlib import Path

from schemas.tool import Tool

SECONDS = 120
MOST_ERRORS = 5

_IMPORT = "from agentworld_context import Context as _AgentworldContext\n"
_ERROR = re.compile(r"^tool\.py:(\d+): error: (.*)$", re.MULTILINE)
_OPTIONS = (
    "--config-file=", "--no-error-summary", "--no-site-packages", "--follow-imports=silent", "--hide-error-codes",
    "--check-untyped-defs", "--no-color-output", "--python-version=3.11", "--cache-dir=cache", "tool.py",
)  # fmt: skip


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that lives as long as the process: what mypy learns of the standard library is kept there."""
    folder = tempfile.TemporaryDirectory(prefix="agentworld-types-")
    context = Path(__file__).parents[1] / "environment" / "runtime" / "context.py"
    (Path(folder.name) / "agentworld_context.py").write_text(context.read_text())
    return folder


def checkable(tool: Tool) -> str:
    """Return a tool's source as mypy shall read it, line by line like its own.

    Raises:
        SyntaxError, tokenize.TokenError: if the source does not parse.
    """
    lines = [line.encode() for line in tool.source_code.splitlines()]
    edits: list[tuple[int, int, int, bytes]] = []
    for token in tokenize.generate_tokens(io.StringIO(tool.source_code).readline):
        if token.type == tokenize.COMMENT:
            start = len(token.line[: token.start[1]].encode())
            edits.append((token.start[0], start, len(lines[token.start[0] - 1]), b""))
    for node in ast.parse(tool.source_code).body:
        if isinstance(node, ast.FunctionDef) and node.name == tool.name and node.args.args:
            context = node.args.args[0]
            place = context.lineno, context.col_offset, context.end_col_offset or context.col_offset
            edits.append((*place, b"ctx: _AgentworldContext"))
            if node.returns is not None and node.returns.end_col_offset is not None:
                end = node.returns.end_col_offset
                edits.append((node.returns.end_lineno or node.lineno, end, end, b" | None"))
    for line, start, end, text in sorted(edits, reverse=True):
        lines[line - 1] = lines[line - 1][:start] + text + lines[line - 1][end:]
    return "\n".join([*(line.decode() for line in lines), _IMPORT])


def type_fault(tool: Tool) -> str:
    """Return the first type errors of a tool that compiles, by line of its source; '' if there are none.

    Raises:
        RuntimeError: if mypy itself does not answer.
    """
    folder = Path(_folder().name)
    (folder / "tool.py").write_text(checkable(tool))
    command = [sys.executable, "-I", "-m", "mypy", *_OPTIONS]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False,
            env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the type checker did not end within {SECONDS} seconds"
    if done.returncode not in (0, 1):
        raise RuntimeError(f"mypy ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
    errors = [f"line {line}: {message}" for line, message in _ERROR.findall(done.stdout)]
    return "; ".join(errors[:MOST_ERRORS])
