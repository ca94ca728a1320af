"""The reading tools of a researcher: search the web and the corpus, open pages, files and data, read on."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import BaseModel, Field

from schemas.base import Scalar, content_hash
from schemas.pages import PageRecord
from schemas.research import ResearchSettings
from schemas.theme import Source
from tasks.mining.agent.access import Access
from tasks.mining.agent.desk import Desk, HeldTable, Opened, Refused
from tasks.mining.corpus import Corpus
from tasks.mining.corpus.folder import FOLDER
from tasks.models import AgentTool
from tasks.web import Page, Web, WebError

TEXT, ROWS, LINKS, TABLES, CELL = 6_000, 40, 40, 12, 200
"""Characters of a text, rows, links and tables with rows that one answer shows; characters of a shown cell."""


class Query(BaseModel):
    """What to search for."""

    query: str = Field(min_length=1, max_length=300, description="a few telling words")


class Address(BaseModel):
    """What to open."""

    url: str = Field(min_length=1, max_length=2000, description="an http or https address")


class Item(BaseModel):
    """Which data set to open."""

    item_id: str = Field(min_length=1, max_length=300, description="an id from search_data, as 'package/name'")


class More(BaseModel):
    """Which part to read."""

    id: str = Field(max_length=40, description="a page such as 'p1' (its text), or a table such as 'p1.t2' (its rows)")
    start: int = Field(default=0, ge=0, description="characters of the text, or rows of the table, to skip")


class Reading:
    """The tools; they lay what they open on a desk."""

    def __init__(self, desk: Desk, corpus: Corpus, web: Web | None, settings: ResearchSettings) -> None:
        self._desk, self._corpus, self._web, self._settings = desk, corpus, web, settings
        self._access = Access(settings, desk.theme)
        self._asked = 0

    def tools(self) -> list[AgentTool]:
        """Return the tools that the settings allow."""
        told = "Search the data sets that are installed here. Returns ids for open_data, the best first."
        tools = [
            AgentTool("search_data", told, Query, self.search_data),
            AgentTool("open_data", "Open a data set of search_data: columns and first rows.", Item, self.open_data),
        ]
        if self._web is not None and self._settings.web and self._web.engine is not None:
            told = "Search the web. Returns addresses for open_page, the best first."
            tools.append(AgentTool("web_search", told, Query, self.web_search))
        if self._web is not None and (self._settings.web or self._settings.pages):
            told = "Open a page of the web: its text, tables, links and data files."
            tools.append(AgentTool("open_page", told, Address, self.open_address))
            told = (
                "Download a data file and read it: csv, tsv, json, ndjson, xlsx, xml, sqlite, SQL, parquet, PDF, zip."
            )
            tools.append(AgentTool("read_file", told, Address, self.open_address))
        told = "Read on in something that you have opened: more text of a page, or more rows of a table."
        return [*tools, AgentTool("read_more", told, More, self.read_more)]

    def search_data(self, given: Query) -> str:
        """Search the corpus."""
        found = [
            {"id": item.item_id, "title": item.title, "about": item.description[:200], "licence": item.licence}
            for item, _ in self._corpus.search(given.query, 12)
        ]
        return _json(found) if found else "nothing fits: use other words"

    def web_search(self, given: Query) -> str:
        """Search the web."""
        try:
            hits = self._web.search(given.query)  # type: ignore[union-attr]
        except WebError as error:
            raise self._refused(error) from error
        self._access.show(hit.url for hit in hits)
        return _json([vars(hit) for hit in hits]) if hits else "nothing found: use other words"

    def open_data(self, given: Item) -> str:
        """Open an item of the corpus."""
        try:
            item, raw = self._corpus.item(given.item_id), self._corpus.extract(given.item_id)
        except KeyError:
            raise ValueError(f"there is no data set {given.item_id!r}: search_data gives the ids") from None
        self._access.private |= item.package == FOLDER
        table = HeldTable(
            "",
            item.title,
            raw.columns,
            [[row[name] for name in raw.columns] for _, row in raw.records],
            [at for at, _ in raw.records],
            descriptions={name: told for name, (_, told) in item.dataset.columns.items()},
        )
        opened = self._desk.put("d", item.item_id, item.title, item.source, item.description, [table])
        return _shown(opened, {"licence": item.licence})

    def open_address(self, given: Address) -> str:
        """Open a page or file of the web."""
        url = given.url.strip()
        try:
            self._access.check(url)
        except Refused as refusal:
            self._desk.refuse(refusal)
            raise
        if self._asked >= self._settings.opened:
            raise ValueError(f"the budget of {self._asked} pages is used up: save what you have, then finish")
        self._asked += 1
        try:
            page = self._web.open_page(url)  # type: ignore[union-attr]
        except WebError as error:
            raise self._refused(error) from error
        self._access.show(link.url for link in (*page.links, *page.downloads))
        self._access.show([page.record.final_url, page.next_url])
        self._access.linked(page.record.final_url, (link.url for link in page.downloads))
        tables = [
            HeldTable("", table.name, tuple(column.name for column in table.columns), table.rows, table.locators)
            for table in page.tables
        ]
        opened = self._desk.put("p", page.record.url, page.title, source_of_page(page), page.text, tables)
        return _shown(opened, _about(page))

    def read_more(self, given: More) -> str:
        """Show another part of a page's text or a table's rows."""
        if given.id in self._desk.opened:
            text = self._desk.page(given.id).text
            part = text[given.start : given.start + TEXT]
            return _json({"characters": len(text), "start": given.start, "text": part})
        table = self._desk.table(given.id)
        return _json({"rows": len(table.rows), "start": given.start, **_rows(table, given.start, ROWS)})

    def reread(self, opened: Opened) -> list[dict[str, str]]:
        """Read something that was opened again, out of the page cache or the corpus: each row's text by its place."""
        if opened.kind == "d":
            raw = self._corpus.extract(opened.address)
            return [{at: row_text([row[name] for name in raw.columns]) for at, row in raw.records}]
        page = self._web.open_page(opened.address)  # type: ignore[union-attr]
        return [
            {at: row_text(row) for at, row in zip(table.locators, table.rows, strict=True)} for table in page.tables
        ]

    def _refused(self, error: WebError) -> Refused:
        refusal = Refused(error.gate, error.url, str(error))
        self._desk.refuse(refusal)
        return refusal


def row_text(row: Iterable[Scalar]) -> str:
    """Return a row as a text."""
    return " | ".join("" if value is None else str(value) for value in row)


def source_of_page(page: Page) -> Source:
    """Return where a page's data came from: the bytes as kept, the licence it states, what robots.txt says."""
    record: PageRecord = page.record
    return Source(
        source_id=content_hash([record.final_url, "", record.sha256])[:16],
        uri=record.final_url,
        version="",
        sha256=record.sha256,
        retrieved_at=record.retrieved_at,
        licence=record.licence,
        title=(page.title or record.file_name)[:200],
        robots=record.robots,
    )


def _about(page: Page) -> dict[str, object]:
    def told(links: Iterable) -> list[list[str]]:
        return [[link.url, link.text[:80]] for link in links][:LINKS]

    about: dict[str, object] = {"url": page.record.final_url, "licence": page.record.licence, "notes": list(page.notes)}
    about |= {"links": told(page.links), "data_files": told(page.downloads), "next_page": page.next_url}
    return {key: value for key, value in about.items() if value}


def _shown(opened: Opened, about: dict[str, object]) -> str:
    tables = [
        {"id": table.table_id, "name": table.name, "row_count": len(table.rows)}
        | (_rows(table, 0, 3) if number < TABLES else {})
        for number, table in enumerate(opened.tables)
    ]
    shown = {"id": opened.page_id, "title": opened.title, **about, "tables": tables}
    if opened.text:
        shown |= {"characters": len(opened.text), "text": opened.text[:TEXT]}
    return _json(shown)


def _rows(table: HeldTable, start: int, count: int) -> dict[str, object]:
    shown = {
        str(n): [_cell(value) for value in row] for n, row in enumerate(table.rows[start : start + count], start + 1)
    }
    return {"columns": list(table.columns), "rows": shown}


def _cell(value: Scalar) -> Scalar:
    return f"{value[:CELL]} ..." if isinstance(value, str) and len(value) > CELL else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
