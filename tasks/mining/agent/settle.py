"""From saved tables to findings, by the inference of types, keys and references that the corpus goes through too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.environment import Rejection
from tasks.mining import papers
from tasks.mining.agent.saving import SavedTable, Shelf
from tasks.mining.agent.typing import given_as_text, typed_table
from tasks.mining.corpus.items import CorpusItem, Dataset
from tasks.mining.extract import Described, describe
from tasks.mining.findings import Findings, MinedTable
from tasks.mining.relations import LEAST_COVERAGE, find_links
from tasks.mining.shape import labelled, schema_of, whole


@dataclass(frozen=True)
class Joined:
    """The saved tables described, parents first; `references` are, for each, its columns that refer to which other;
    `faults` say which asked references do not hold, and which tables cannot be read, by table."""

    tables: dict[str, Described]
    references: dict[str, dict[str, str]]
    faults: dict[str, list[str]]


def join(saved: Mapping[str, SavedTable]) -> Joined:
    """Describe saved tables and find the references between them: those asked for, and those that names speak of."""
    tables: dict[str, Described] = {}
    faults: dict[str, list[str]] = {}
    for name, one in saved.items():
        try:
            tables[name] = describe(_item(name, one), typed_table(name, one, _text_columns(saved, name)))
        except ValueError as error:
            faults.setdefault(name, []).append(f"table {name} {error}")
    references: dict[str, dict[str, str]] = {name: {} for name in tables}
    for name in tables:
        for link in saved[name].order.references:
            fault = _fault(tables, name, link.column, link.table)
            if fault:
                faults.setdefault(name, []).append(fault)
            else:
                references[name][link.column] = link.table
    for found in find_links(tables):
        known = references[found.child]
        if found.column not in known and not _reaches(references, found.parent, found.child):
            known[found.column] = found.parent
    order = _parents_first(references)
    return Joined({name: tables[name] for name in order}, references, faults)


def settle(shelf: Shelf, found: Findings, seed: int) -> None:
    """Add the saved tables and documents, and renderings of the tables, to findings."""
    joined = join(shelf.tables)
    for name, faults in joined.faults.items():
        found.rejections.extend(_rejection(found, name, "unfit_table", fault) for fault in faults)
    held: dict[str, Described] = {}
    for name, described in joined.tables.items():
        links = {column: parent for column, parent in joined.references[name].items() if parent in held}
        kept = whole(described, links, held, found)
        records, note = labelled(kept, list(kept.records), True, found)
        if not records:
            found.rejections.append(_rejection(found, name, "empty_table", f"no row of {name} is left"))
            continue
        one = shelf.tables[name]
        held[name] = Described(kept.item, kept.table, tuple(records), (), kept.notes)
        note = "; ".join(part for part in (one.transform, *kept.notes, note) if part)
        table = schema_of(kept, records, links, held)
        rows, places = papers.rows_for_storage(records), [at for at, _ in records]
        found.tables.append(MinedTable(table, rows, one.source.source_id, places, note))
    found.documents.extend(shelf.documents.values())
    if found.tables:
        found.documents.extend(_rendered(found.tables))
    used = {mined.source_id for mined in found.tables} | {document.source_id for document in found.documents}
    found.sources.extend(source for source_id, source in shelf.sources.items() if source_id in used)


def _text_columns(saved: Mapping[str, SavedTable], name: str) -> set[str]:
    """Return the columns of a table that stay text: its key if it was given as text, and what refers to such a key."""
    order = saved[name].order
    found = {order.key} if given_as_text(saved[name], order.key) else set()
    for link in order.references:
        parent = saved.get(link.table)
        if parent is not None and given_as_text(parent, parent.order.key):
            found.add(link.column)
    return found


def _item(name: str, one: SavedTable) -> CorpusItem:
    order = one.order
    told = {c.name: (c.name, c.description or one.descriptions.get(c.name, "")) for c in order.columns}
    dataset = Dataset(
        name=name, package="saved", path="", load=lambda _: iter(one.records), title=order.noun,
        description=order.description, topics=(), noun=order.noun, nouns=name.replace("_", " "), key=order.key,
        label=order.label, columns=told, units={c.name: c.unit for c in order.columns if c.unit},
        linked=frozenset(link.column for link in order.references),
    )  # fmt: skip
    return CorpusItem(
        item_id=f"saved/{name}", title=order.noun, description=order.description, package="saved", version="",
        licence=one.source.licence, path="", format="saved", topics=(), source=one.source, dataset=dataset,
    )  # fmt: skip


def _fault(tables: Mapping[str, Described], name: str, column: str, parent: str) -> str:
    if parent not in tables or parent == name:
        return f"{name}.{column} cannot refer to {parent!r:.80}: no other table of that name is saved"
    if column == tables[name].table.key:
        return f"{name}.{column} is the key of {name}, and a key refers to nothing: leave `key` empty, and one is made"
    if column not in {c.name for c in tables[name].table.columns}:
        return f"{name}.{column} was left out, since it is empty or says the same in every row"
    keys = set(tables[parent].values(tables[parent].table.key))
    known = [value for value in tables[name].values(column) if value is not None]
    share = sum(value in keys for value in known) / max(1, len(known))
    if share >= LEAST_COVERAGE:
        return ""
    some = ", ".join(repr(value) for value in known if value not in keys)[:80]
    return (
        f"{name}.{column} does not refer to {parent}: {share:.0%} of its values are keys ({tables[parent].table.key}) "
        f"there, {LEAST_COVERAGE:.0%} are needed; among the others: {some}"
    )


def _reaches(references: Mapping[str, Mapping[str, str]], start: str, target: str) -> bool:
    """Whether references lead from one table to another."""
    seen: set[str] = set()
    left = [start]
    while left:
        name = left.pop()
        if name == target:
            return True
        if name not in seen:
            seen.add(name)
            left += references[name].values()
    return False


def _parents_first(references: dict[str, dict[str, str]]) -> list[str]:
    """Return the tables, parents first; the last reference of a circle is dropped."""
    done: list[str] = []
    while len(done) < len(references):
        left = [name for name in references if name not in done]
        ready = [name for name in left if set(references[name].values()) <= {*done}]
        if not ready:
            references[left[0]] = {c: p for c, p in references[left[0]].items() if p in done}
            ready = left[:1]
        done += ready
    return done


def _rendered(tables: Sequence[MinedTable]) -> list:
    largest = max(tables, key=lambda mined: (len(mined.rows), mined.table.name))
    return [papers.page_of(largest), papers.dictionary_of(list(tables)), papers.sample_of(largest)]


def _rejection(found: Findings, name: str, gate: str, reason: str) -> Rejection:
    return Rejection(stage="mining", key=f"{found.theme_id}/{name}", gate=gate, reason=reason[:500])
