"""Two environments built from real data, and calls said by what they mean instead of by their tools' names."""

from __future__ import annotations

from functools import cache
from typing import Any

from schemas.task import AnswerField, Call, Oracle, Verifier
from tasks.coding import write_tools
from tasks.environment import EnvironmentImage
from tasks.mining import mine, open_corpus
from tasks.synthesis.atlas import Atlas, Row
from tasks.synthesis.replay import Bench
from tasks.themes import collect, merge_duplicates

SEED = 7


def ref(place: str) -> dict[str, str]:
    """Return a reference to a place in an earlier observation."""
    return {"$ref": place}


class World:
    """An environment with its rows; builds calls from kinds of tools, tables and columns."""

    def __init__(self, database: Any, snapshot: bytes, tools: Any) -> None:
        self.database, self.snapshot, self.tools = database, snapshot, list(tools)
        self.atlas = Atlas(database, snapshot, self.tools)
        self.image = EnvironmentImage.of(database, self.tools, snapshot)

    def rows(self, table: str, **cells: Any) -> list[Row]:
        """Return a table's rows with these cells."""
        return [row for row in self.atlas.rows[table] if all(row[name] == value for name, value in cells.items())]

    def row(self, table: str, **cells: Any) -> Row:
        """Return the first such row."""
        return self.rows(table, **cells)[0]

    def find(self, table: str, kind: str = "search", *, most: bool = False, **cells: Any) -> Call:
        """Return a search of a table by cells, or another kind of listing if there is one.

        `most` asks for the largest page.
        """
        readers = [t for t in self.atlas.tools.values() if t.table == table and t.kind in ("search", "list")]
        tool = min(readers, key=lambda t: t.kind != kind)
        arguments = {}
        for name, value in cells.items():
            fields = [f for f in tool.inputs if f.entity == f"{table}.{name}" and f.meaning in ("equals", "contains")]
            arguments[fields[0].path if fields else self._text(tool)] = value
        if most:
            limit = next(field.path for field in tool.inputs if field.meaning == "limit")
            arguments[limit] = tool.parameters["properties"][limit]["maximum"]
        return Call(tool=tool.name, arguments=arguments)

    def _text(self, tool: Any) -> str:
        return next(field.path for field in tool.inputs if field.meaning == "contains")

    def get(self, table: str, key: Any) -> Call:
        """Return the call that gets a row by key."""
        tool = next(tool for tool in self.atlas.tools.values() if tool.kind == "get" and tool.table == table)
        return Call(tool=tool.name, arguments={self.atlas.tables[table].key: key})

    def act(self, action: str, **cells: Any) -> Call:
        """Return the call that performs an action."""
        tool = next(tool for tool in self.atlas.tools.values() if tool.action == action)
        return Call(tool=tool.name, arguments=cells)

    def judge(self, bench: Bench, oracle: Oracle, fields: tuple[AnswerField, ...]) -> Verifier:
        """Return the verifier that an oracle's episode gives."""
        run = bench.execute(oracle)
        refused = [step for step in run.steps if "error" in step.observation]
        assert not run.error and not refused, (run.error, refused)
        return Verifier(answer=fields, expected_answer=dict(run.answer or {}), expected_changes=run.changes)


@cache
def _built() -> dict[str, World]:
    corpus, found = open_corpus(()), {}
    for theme in merge_duplicates(collect().themes)[0]:
        for name in ("flight-booking", "chess-openings"):
            if theme.theme_id.startswith(name) and name not in found:
                mined = mine(theme, corpus, seed=SEED, rounds=1)
                found[name] = World(mined.database, mined.snapshot, write_tools(mined.database, SEED, mined.snapshot))
    return found


def flights() -> World:
    """Return the world of a flight booking desk, built from airports, flights and airlines."""
    return _built()["flight-booking"]


def chess() -> World:
    """Return the world of a chess club with a library, built from openings."""
    return _built()["chess-openings"]
