"""A researcher that is a chat model: it mines a theme with tools, then asks for connected tables, round by round."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from schemas.base import canonical_json
from schemas.research import ResearchRound, ResearchSettings
from schemas.theme import Theme
from tasks.mining.agent.code import RunPython
from tasks.mining.agent.desk import Desk, HeldTable
from tasks.mining.agent.orders import DocumentOrder, TableOrder
from tasks.mining.agent.reading import Reading
from tasks.mining.agent.saving import Shelf
from tasks.mining.agent.settle import join, settle
from tasks.mining.agent.subgraphs import executable_subgraphs, joins
from tasks.mining.corpus import Corpus
from tasks.mining.findings import Findings
from tasks.mining.researcher import RuleResearcher
from tasks.mining.workflows.choose import MINIMUM_ROWS
from tasks.mining.world import rejection
from tasks.models import AgentRun, AgentTool, Budget, Gateway, Prompt, render, run_agent
from tasks.web import Web

TEMPLATES = ("researcher/collect", "researcher/connect")
SHORT = 400
"""Characters of an argument or a result that the log keeps; the calls of the model hold them whole."""


class ModelResearcher:
    """Mines a theme by a model with tools; where it fails before a table that can be used is saved, rules do.

    Args:
        gateway: has a model for the role `researcher`.
        web: None: nothing but the corpus can be opened.
    """

    def __init__(self, gateway: Gateway, web: Web | None, settings: ResearchSettings) -> None:
        self._gateway, self._web, self._settings = gateway, web, settings

    def research(self, theme: Theme, corpus: Corpus, seed: int) -> Findings:
        """Return what the model saved and the checks believed, or what rules find."""
        desk = Desk(theme)
        reading = Reading(desk, corpus, self._web, self._settings)
        shelf = Shelf(desk, reading.reread, seed)
        code = RunPython(desk)
        session = _Session(self._gateway, self._settings, desk, shelf, seed)
        tools = [*reading.tools(), code.tool(), *_saving_tools(shelf)]
        try:
            found = session.run(tools)
        finally:
            code.close()
        return found if _stands(found) else _by_rules(found, theme, corpus, seed)


class _Session:
    """The rounds of one theme over one desk, within one budget."""

    def __init__(self, gateway: Gateway, settings: ResearchSettings, desk: Desk, shelf: Shelf, seed: int) -> None:
        self._gateway, self._settings, self._desk, self._shelf, self._seed = gateway, settings, desk, shelf, seed
        self._runs: list[AgentRun] = []
        self._rounds: list[ResearchRound] = []

    def run(self, tools: list[AgentTool]) -> Findings:
        """Collect, then connect until the subgraphs no longer grow, rounds or budget end, or the model fails."""
        found = self._round(render(TEMPLATES[0], **self._told(tools)), tools)
        while len(self._rounds) <= self._settings.rounds and self._may_go_on(found):
            known = {**self._told(tools), **_saved(found), "subgraphs": self._rounds[-1].subgraphs}
            found = self._round(render(TEMPLATES[1], **known), tools)
        return found

    def _may_go_on(self, found: Findings) -> bool:
        if self._runs[-1].ended != "done" or self._left().steps < 1 or not _usable(found):
            return False
        if len(self._runs) > 1 and _says_done(self._runs[-1].answer):
            return False
        counts = [round_.subgraphs for round_ in self._rounds]
        return len(counts) == 1 or counts[-1] > counts[-2]

    def _round(self, prompt: Prompt, tools: list[AgentTool]) -> Findings:
        run = run_agent(self._gateway, "researcher", prompt, tools, self._left(), env_id=self._desk.theme.theme_id)
        self._runs.append(run)
        found = self._findings()
        self._rounds.append(
            ResearchRound(
                round=len(self._rounds),
                ended=run.ended,
                reason=run.reason[:500],
                steps=run.steps,
                tokens=run.tokens,
                tables=tuple(mined.table.name for mined in found.tables),
                subgraphs=executable_subgraphs(found.tables),
            )  # fmt: skip
        )
        return replace(found, rounds=list(self._rounds))

    def _findings(self) -> Findings:
        found = Findings(
            self._desk.theme.theme_id, researcher=self._gateway.model_id("researcher"), refused=dict(self._desk.refused)
        )
        found.rejections.extend(self._desk.rejections)
        for number, run in enumerate(self._runs):
            if run.gate:
                reason = f"research round {number}: {run.reason}"[:500]
                found.rejections.append(rejection(found.theme_id, run.gate, reason))
            found.log.extend(_logged(number, entry) for entry in run.log)
        settle(self._shelf, found, self._seed)
        return found

    def _left(self) -> Budget:
        settings = self._settings
        return Budget(
            steps=settings.steps - sum(run.steps for run in self._runs),
            seconds=settings.seconds - sum(run.seconds for run in self._runs),
            tokens=settings.tokens - sum(run.tokens for run in self._runs),
            usd=None if settings.usd is None else settings.usd - sum(run.usd for run in self._runs),
        )

    def _told(self, tools: list[AgentTool]) -> dict[str, Any]:
        return {
            "theme": self._desk.theme,
            "tools": [tool.name for tool in tools],
            "pages": self._settings.pages,
            "most_opened": self._settings.opened,
            "opened": [
                {
                    "id": one.page_id,
                    "title": one.title,
                    "address": one.address,
                    "tables": [_told_table(table) for table in one.tables],
                }
                for one in self._desk.opened.values()
            ],
            "results": [_told_table(table) for table in self._desk.tables.values() if table.origins],
            "addresses_left": max(0, self._settings.opened - sum(o.kind == "p" for o in self._desk.opened.values())),
            "first": not self._rounds,
            "minimum_rows": MINIMUM_ROWS,
        }


def _saving_tools(shelf: Shelf) -> list[AgentTool]:
    def save_table(order: TableOrder) -> str:
        saved = shelf.save_table(order)
        joined = join(shelf.tables)
        told: dict[str, Any] = {"saved": order.name, "rows": len(saved.records)}
        settled = Findings("")
        settle(shelf, settled, shelf.seed)
        kept = {mined.table.name: mined.table for mined in settled.tables}
        if order.name in kept:
            table = kept[order.name]
            columns = {column.name: f"{column.type}, {column.role}" for column in table.columns}
            told |= {"usable_rows": table.rows, "key": table.key, "label": table.label, "columns": columns}
        told["left_out"] = [
            entry.reason
            for entry in settled.rejections
            if entry.key.endswith(f"/{order.name}") and entry.gate != "unfit_table"
        ]
        told["references"] = [
            f"{child}.{column} -> {parent}"
            for child, links in joined.references.items()
            for column, parent in links.items()
            if order.name in (child, parent)
        ]
        told["faults"] = joined.faults.get(order.name, [])
        return json.dumps({key: value for key, value in told.items() if value not in ("", [])}, ensure_ascii=False)

    def save_document(order: DocumentOrder) -> str:
        mined = shelf.save_document(order)
        return json.dumps({"saved": mined.document.name, "characters": len(mined.content)})

    return [
        AgentTool("save_table", "Save a table; its cells are checked against the source.", TableOrder, save_table),
        AgentTool("save_document", "Save a passage of a page, word for word.", DocumentOrder, save_document),
    ]


def _told_table(table: HeldTable) -> str:
    return f"{table.table_id} {table.name:.60} ({len(table.rows)} rows): {', '.join(table.columns)[:300]}"


def _says_done(answer: str) -> bool:
    return answer.strip().strip(".!\"'").casefold() == "done"


def _saved(found: Findings) -> dict[str, Any]:
    """Return what the next round is told of the findings."""
    gates = {"duplicate_key", "duplicate_label", "broken_reference", "uninformative_column", "unfit_table"}
    return {
        "tables": _schema(found),
        "joins": joins(found.tables),
        "documents": [mined.document.name for mined in found.documents if mined.transform.startswith("extract")],
        "left_out": [f"{entry.key}: {entry.reason}" for entry in found.rejections if entry.gate in gates],
    }


def _schema(found: Findings) -> list[dict[str, Any]]:
    """Return what a model needs to know of the saved tables to find others that join them."""
    return [
        {
            "name": mined.table.name,
            "rows": len(mined.rows),
            "key": mined.table.key,
            "keys": [str(row[mined.table.key]) for row in mined.rows[:5]],
            "columns": {
                column.name: [str(row[column.name]) for row in mined.rows[:3] if row[column.name] is not None]
                for column in mined.table.columns
                if column.name != mined.table.key
            },
        }
        for mined in found.tables
    ]


def _logged(number: int, entry: dict[str, Any]) -> dict[str, Any]:
    if "text" in entry:
        return {"tool": "say", "arguments": {}, "outcome": str(entry["text"])[:SHORT], "round": number}
    given = entry["arguments"]
    told = {k: _brief(v) for k, v in given.items()} if isinstance(given, dict) else {"": _brief(given)}
    outcome = ("refused: " if entry["error"] else "") + str(entry["result"])[:SHORT]
    return {"tool": entry["tool"], "arguments": told, "outcome": outcome, "round": number}


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value)  # cached arguments come in another order
    return text if len(text) <= SHORT else f"{text[:SHORT]} ..."


def _usable(found: Findings) -> bool:
    return any(len(mined.rows) >= MINIMUM_ROWS for mined in found.tables)


def _stands(found: Findings) -> bool:
    """Whether a model's findings are kept: a budget or cap that ended keeps what is usable, a failure at first none."""
    failed = found.rounds[0].ended == "failed" and all(entry.gate != "model_cost" for entry in found.rejections)
    return _usable(found) and not failed


def _by_rules(tried: Findings, theme: Theme, corpus: Corpus, seed: int) -> Findings:
    """Return what rules find, with the log and the rejections of the model that failed before."""
    found = RuleResearcher().research(theme, corpus, seed)
    failed = list(tried.rejections)
    if tried.rounds[0].ended == "done":
        sizes = ", ".join(f"{mined.table.name} {len(mined.rows)}" for mined in tried.tables) or "none"
        reason = f"the model saved no table of {MINIMUM_ROWS} rows (saved: {sizes}): rules mine this theme"
        failed.append(rejection(theme.theme_id, "model_output", reason))
    return replace(
        found, rejections=[*failed, *found.rejections], log=[*tried.log, *found.log], rounds=tried.rounds,
        refused=tried.refused,
    )  # fmt: skip
