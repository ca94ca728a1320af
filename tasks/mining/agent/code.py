"""The tool run_python: code of a model over tables of the desk, in the sandbox, without network or files."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import BaseModel, Field

from schemas.base import Scalar
from tasks.mining.agent.desk import Desk, HeldTable
from tasks.models import AgentTool
from tasks.sandbox import Limits, SandboxError, SandboxWorker

PLACE = "_at"
"""The field of a row that says where it is from: 'p1.t2:5', or several such with spaces between."""

MOST_ROWS = 20_000
LIMITS = Limits(cpu_s=20, script_s=30, output_bytes=8_000_000)

_PROGRAM = """
import contextlib, io, json, traceback
DATA = {data!r}
CODE = {code!r}

def solve(call):
    printed, error = io.StringIO(), ""
    names = {{"__name__": "analysis", "tables": json.loads(DATA), "result": None}}
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(CODE, "<run_python>", "exec"), names)
        except Exception:
            error = traceback.format_exc()[-1500:]
    return {{"printed": printed.getvalue()[:8000], "error": error, "result": names.get("result")}}
"""


class Code(BaseModel):
    """A program over opened tables."""

    tables: list[str] = Field(min_length=1, max_length=20, description="ids of the tables that it needs, as 'p1.t2'")
    code: str = Field(
        min_length=1,
        max_length=20_000,
        description="Python, standard library only. `tables['p1.t2']` is a list of dicts, one a row, by column name; "
        "each has '_at', the place of the row. Print what you want to see. To make a table, set `result` to a list of "
        "dicts, one a row, each with the '_at' of the row (or, separated by spaces, of all rows) that it is made from.",
    )


class RunPython:
    """The tool; its sandbox starts when it is first used. `close` ends it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._worker = SandboxWorker(LIMITS)

    def tool(self) -> AgentTool:
        """Return the tool."""
        told = (
            "Run Python over tables that you have opened, to look at them, clean, join or reshape them. It has no "
            "network and no files. A table in `result` gets an id, such as 'o1', for save_table."
        )
        return AgentTool("run_python", told, Code, self.run)

    def close(self) -> None:
        """End the sandbox."""
        self._worker.close()

    def run(self, given: Code) -> str:
        """Run the program; return what it printed and the id of the table it made, or its error."""
        data = {table_id: records_of(self._desk.table(table_id)) for table_id in given.tables}
        program = _PROGRAM.format(data=json.dumps(data, ensure_ascii=False), code=given.code)
        try:
            answer = self._worker.run_script(program)
        except SandboxError as error:
            raise ValueError(f"the program was ended: {error}") from error
        told = {key: answer[key] for key in ("printed", "error") if answer.get(key)}
        if answer.get("result") is not None and not answer.get("error"):
            table = self._keep(answer["result"])
            told |= {"table": table.table_id, "rows": len(table.rows), "columns": list(table.columns)}
        return json.dumps(told or "it printed nothing and set no result", ensure_ascii=False)

    def _keep(self, result: Any) -> HeldTable:
        if not isinstance(result, list) or not result or not all(isinstance(row, dict) for row in result):
            raise ValueError("`result` must be a list of dicts with at least one row")
        if len(result) > MOST_ROWS:
            raise ValueError(f"`result` has {len(result)} rows, more than {MOST_ROWS}: filter it")
        columns = tuple(dict.fromkeys(str(name) for row in result for name in row if name != PLACE))
        rows: list[list[Scalar]] = []
        origins = []
        for number, row in enumerate(result, 1):
            values = [row.get(name) for name in columns]
            if any(isinstance(value, list | dict) for value in values):
                raise ValueError(f"row {number} of `result` holds a list or a dict: only plain values can be saved")
            rows.append(values)
            origins.append(self._origins(number, row.get(PLACE)))
        return self._desk.put_output(columns, rows, origins)

    def _origins(self, number: int, places: Any) -> tuple[tuple[str, int], ...]:
        found = []
        for place in str(places or "").split():
            match = re.fullmatch(r"([\w.]+):(\d{1,7})", place)
            table = self._desk.table(match[1]) if match else None
            if match is None or table is None or not 1 <= int(match[2]) <= len(table.rows):
                raise ValueError(
                    f"row {number} of `result` says it is from {place!r:.80}, which is no place of a table"
                )
            found.append((match[1], int(match[2])))
        if not found:
            raise ValueError(f"row {number} of `result` has no '_at': keep that of the row that it is made from")
        return tuple(found)


def records_of(table: HeldTable) -> list[dict[str, Scalar]]:
    """Return a table's rows as dicts, each with its place."""
    return [
        {**dict(zip(table.columns, row, strict=True)), PLACE: f"{table.table_id}:{number}"}
        for number, row in enumerate(table.rows, 1)
    ]
