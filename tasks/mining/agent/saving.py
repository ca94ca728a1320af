"""Save what a researcher found, once it is known to stand in its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schemas.base import Scalar
from schemas.database import Document
from schemas.theme import Source
from tasks.mining.agent.check import missing_cells
from tasks.mining.agent.desk import Desk, HeldTable, Opened, Refused
from tasks.mining.agent.orders import DocumentOrder, TableOrder, Where
from tasks.mining.corpus.items import Record
from tasks.mining.findings import MinedDocument
from tasks.mining.papers import shortened

MOST_TABLES, MOST_DOCUMENTS = 12, 10


@dataclass(frozen=True)
class SavedTable:
    """A table as it was asked for, with its records (locator, values) and what was done to them."""

    order: TableOrder
    source: Source
    records: list[Record]
    transform: str
    descriptions: dict[str, str] = field(default_factory=dict)


class Shelf:
    """The saved tables and documents of one theme, by name.

    `reread` reads something that was opened again, from what is kept of it: for each of its tables the text of each
    row by its place. Cells are looked for there, not on the desk.
    """

    def __init__(self, desk: Desk, reread: Callable[[Opened], list[dict[str, str]]], seed: int) -> None:
        self._desk, self._reread, self.seed = desk, reread, seed
        self._again: dict[str, list[dict[str, str]]] = {}
        self.tables: dict[str, SavedTable] = {}
        self.documents: dict[str, MinedDocument] = {}
        self.sources: dict[str, Source] = {}

    def save_table(self, order: TableOrder) -> SavedTable:
        """Check a table against its source and save it; one of the same name is replaced.

        Raises:
            Refused: gate `invented`, if cells do not stand where they are said to; it is written down.
            ValueError: if the order cannot be carried out.
        """
        names = [column.name for column in order.columns]
        _check_names(order, names)
        if order.name not in self.tables and len(self.tables) >= MOST_TABLES:
            raise ValueError(f"{MOST_TABLES} tables are saved, which is the most: replace one by giving its name")
        saved = self._typed(order, names) if order.rows else self._selected(order)
        self.tables[order.name] = saved
        self.sources[saved.source.source_id] = saved.source
        return saved

    def save_document(self, order: DocumentOrder) -> MinedDocument:
        """Save a passage of a page, word for word.

        Raises:
            Refused: gate `invented`, if the page does not hold the words.
            ValueError: if the order cannot be carried out.
        """
        page = self._desk.page(order.page)
        if order.name not in self.documents and len(self.documents) >= MOST_DOCUMENTS:
            raise ValueError(f"{MOST_DOCUMENTS} documents are saved, which is the most")
        begin = _find(page.text, order.from_words, 0) if order.from_words else 0
        end = _find(page.text, order.to_words, begin) if begin >= 0 and order.to_words else len(page.text)
        if begin < 0 or end < 0:
            lost = order.from_words if begin < 0 else order.to_words
            raise self._invented(order.name, f"the text of {order.page} does not hold the words {lost[:100]!r}")
        if order.to_words:
            end += len(order.to_words)
        content, cut = shortened(page.text[begin:end].strip())
        if len(content) < 40:
            raise ValueError(f"that is a text of {len(content)} characters: too short for a document")
        document = Document(name=f"{order.name}.txt", media_type="text/plain", title=order.title)
        mined = MinedDocument(
            document, content + "\n", page.source.source_id, f"characters {begin} to {end} of the text", "extract" + cut
        )
        self.documents[order.name] = mined
        self.sources[page.source.source_id] = page.source
        return mined

    def _selected(self, order: TableOrder) -> SavedTable:
        if not order.source:
            raise ValueError("give `source` (a table's id) or `rows`")
        table = self._desk.table(order.source)
        sources = {column.name: column.source or column.name for column in order.columns}
        for column in (*sources.values(), *(where.column for where in order.where)):
            if column not in table.columns:
                raise ValueError(f"{order.source} has no column {column!r:.80}; it has: {', '.join(table.columns)}")
        at = {name: table.columns.index(column) for name, column in sources.items()}
        kept = [n for n, row in enumerate(table.rows) if all(_meets(where, table, row) for where in order.where)]
        if not kept:
            raise ValueError("no row meets the conditions of `where`")
        rows = [{name: table.rows[n][index] for name, index in at.items()} for n in kept]
        looked = [name for name in at if name not in order.derived]
        if order.derived:
            _check_derived(order, table, rows, looked)
        self._check(order, rows, looked, [self._place(table, n) for n in kept])
        owner = self._desk.owner(order.source)
        note = ["extract" if not table.origins else "extract; run_python", f"from {order.source} {table.name!r:.80}"]
        note += [f"where {where.column} {where.test} {where.value!r:.60}" for where in order.where]
        note += [f"derive:{name}" for name in order.derived]
        records = [(self._locator(table, n), row) for n, row in zip(kept, rows, strict=True)]
        told = {name: table.descriptions.get(column, "") for name, column in sources.items()}
        return SavedTable(order, owner.source, records, "; ".join(note), told)

    def _typed(self, order: TableOrder, names: Sequence[str]) -> SavedTable:
        records: list[Record] = []
        if len({row.page for row in order.rows}) > 1:
            raise ValueError("the rows of one table must be from one page: save one table a page")
        page = self._desk.page(order.rows[0].page)
        for number, row in enumerate(order.rows, 1):
            if set(row.values) - set(names):
                raise ValueError(f"row {number} has values for columns that `columns` does not name")
            begin = _find(page.text, row.quote, 0)
            if begin < 0:
                told = f"the text of {row.page} does not hold the quote of row {number}: {row.quote[:100]!r}"
                raise self._invented(order.name, told)
            records.append((f"characters {begin} to {begin + len(row.quote)}", {n: row.values.get(n) for n in names}))
        self._check(order, [row for _, row in records], names, [row.quote for row in order.rows])
        return SavedTable(order, page.source, records, f"typed by a model from quotes of {page.page_id}")

    def _check(
        self, order: TableOrder, rows: Sequence[dict[str, Scalar]], columns: Sequence[str], places: Sequence[str]
    ) -> None:
        lost = missing_cells(rows, columns, lambda n: places[n], f"{self.seed}:{order.name}")
        if lost:
            n, name = lost[0]
            raise self._invented(
                order.name,
                f"{len(lost)} of the cells looked at do not stand in the source where they should: {name} of row "
                f"{n + 1} is {rows[n][name]!r:.80}, but there stands {places[n]!r:.200}",
            )

    def _invented(self, name: str, reason: str) -> Refused:
        refusal = Refused("invented", f"{self._desk.theme.theme_id}/{name}", f"not saved, as invented: {reason}")
        self._desk.refuse(refusal)
        return refusal

    def _place(self, table: HeldTable, n: int) -> str:
        """Return what stands in the source at the place of a row."""
        if table.origins:
            return " | ".join(self._place(self._desk.table(name), row - 1) for name, row in table.origins[n])
        page_id, _, number = table.table_id.partition(".t")
        if page_id not in self._again:
            self._again[page_id] = self._reread(self._desk.page(page_id))
        tables = self._again[page_id]
        return tables[int(number) - 1].get(table.places[n], "") if int(number) <= len(tables) else ""

    def _locator(self, table: HeldTable, n: int) -> str:
        if table.origins:
            parts = [self._locator(self._desk.table(name), row - 1) for name, row in table.origins[n][:5]]
            return " and ".join(parts) + (f" and {len(table.origins[n]) - 5} more" if len(table.origins[n]) > 5 else "")
        return table.places[n]


def _check_names(order: TableOrder, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    asked = [*filter(None, (order.key, order.label)), *order.derived, *(link.column for link in order.references)]
    for name in asked:
        if name not in names:
            raise ValueError(f"{name!r:.80} is none of the columns: {', '.join(names)}")
    if order.rows and order.source:
        raise ValueError("give `source` or `rows`, not both")


def _check_derived(
    order: TableOrder, table: HeldTable, rows: Sequence[dict[str, Scalar]], looked: Sequence[str]
) -> None:
    """Computed columns are numbers, at most as many as the others, and never the key: the rest is in the source."""
    if not table.origins:
        raise ValueError("only columns of a result of code ('o1') can be derived")
    if order.key in order.derived or len(order.derived) > len(looked):
        told = f"the key {order.key} is computed: leave `key` empty, one is made" if order.key in order.derived else ""
        raise ValueError(told or "more than half of the columns are computed: at least half must stand in the source")
    for name in order.derived:
        if any(isinstance(row[name], str) for row in rows):
            raise ValueError(f"the derived column {name} holds texts: only numbers can be derived")


def _meets(where: Where, table: HeldTable, row: Sequence[Scalar]) -> bool:
    value = row[table.columns.index(where.column)]
    if where.test == "is_known":
        return value is not None and value != ""
    if where.test == "contains":
        return str(where.value or "").lower() in str(value or "").lower()
    same = value == where.value or str(value) == str(where.value)
    return same if where.test == "equals" else not same


def _find(text: str, words: str, start: int) -> int:
    """Return where words stand in a text, however they are spaced, or -1."""
    parts = words.split()
    found = re.compile(r"\s+".join(map(re.escape, parts))).search(text, start) if parts else None
    return found.start() if found else -1
