"""The researcher: search, open, extract and save over a corpus until a theme has its tables and documents."""

from __future__ import annotations

from typing import Any, Protocol

from schemas.environment import Rejection
from schemas.theme import Source, Theme
from tasks.mining import papers
from tasks.mining.corpus.corpus import Corpus
from tasks.mining.corpus.locate import MissingFiles, locate
from tasks.mining.findings import Findings, MinedDocument, MinedTable
from tasks.mining.plan import Plan, choose, rank
from tasks.mining.relations import Study, study
from tasks.mining.selection import select
from tasks.mining.shape import labelled, schema_of, whole
from tasks.retrieval.bm25 import words

RESULTS = 12
DOCUMENTS = 5
MOST_OPENED = 12


class Researcher(Protocol):
    """Whoever mines a theme: rules (`RuleResearcher`), or a model that uses the same four tools."""

    def research(self, theme: Theme, corpus: Corpus, seed: int) -> Findings:
        """Return tables, documents, sources, a log and rejections; the same for the same theme, corpus and seed."""
        ...


def research(theme: Theme, corpus: Corpus, seed: int) -> Findings:
    """Mine a theme by rules: no model, deterministic in (theme, corpus content, seed)."""
    return RuleResearcher().research(theme, corpus, seed)


class RuleResearcher:
    """Searches with the theme's needs, terms and operations, takes what fits best, and follows foreign keys."""

    def research(self, theme: Theme, corpus: Corpus, seed: int) -> Findings:
        """Return what was found; a theme that nothing fits has no tables and a rejection that says so."""
        known = study(corpus)
        found = Findings(theme.theme_id)
        ranked, needed = rank(
            theme, lambda purpose, query: self._search(corpus, found, purpose, query), corpus.match, known
        )
        plan = choose(ranked, needed, known)
        scores = dict(ranked)
        looked = [*plan.items, *[item for item, _ in ranked if item not in plan.items]][:MOST_OPENED]
        for item in looked:
            profile = corpus.open(item)
            chosen = plan.reasons.get(item, "not taken")
            outcome = f"{profile.rows} rows, {len(profile.columns)} columns; {chosen}"
            found.log.append(_step("open", {"item": item, "score": round(scores.get(item, 0.0), 3)}, outcome))
        if not plan.items:
            reason = f"no data in the corpus fits the theme {theme.name!r}: add a folder with data to the corpus"
            found.rejections.append(Rejection(stage="mining", key=theme.theme_id, gate="no_data", reason=reason))
            return found
        terms = words(" ".join([theme.name, *theme.needs, *theme.terms[:20]]))
        for mined, source in self._tables(terms, known, plan, seed, found):
            found.tables.append(mined)
            _add_source(found, source)
            outcome = f"{len(mined.rows)} rows; {mined.transform}"
            found.log.append(_step("save", {"table": mined.table.name, "source": mined.source_id}, outcome))
        for mined_document in self._documents(plan, known, found, set(terms)):
            found.documents.append(mined_document)
            outcome = f"{len(mined_document.content)} characters; {mined_document.transform}"
            found.log.append(_step("save", {"document": mined_document.document.name}, outcome))
        return found

    def _search(self, corpus: Corpus, found: Findings, purpose: str, query: str) -> list[tuple[str, float]]:
        results = [(item.item_id, score) for item, score in corpus.search(query, RESULTS)]
        outcome = ", ".join(f"{item} {score:.2f}" for item, score in results[:5]) or "nothing"
        found.log.append(_step("search", {"query": query[:200], "purpose": purpose}, outcome))
        return results

    def _tables(
        self, terms: list[str], known: Study, plan: Plan, seed: int, found: Findings
    ) -> list[tuple[MinedTable, Source]]:
        tables = {item: whole(known.tables[item], plan.references[item], known.tables, found) for item in plan.items}
        chosen = select(tables, plan.references, terms, seed)
        parents = {parent for columns in plan.references.values() for parent in columns.values()}
        mined = []
        for item, records in chosen.items():
            described = tables[item]
            records, note = labelled(described, records, item in parents, found)
            note = "; ".join(part for part in (described.item.dataset.transform, *described.notes, note) if part)
            if len(records) < len(described.records):
                note += f"; sample {len(records)} of {len(described.records)} rows, seed {seed}"
            table = schema_of(described, records, plan.references[item], tables)
            outcome = f"{len(records)} of {len(described.records)} rows, {len(table.columns)} columns"
            found.log.append(_step("extract", {"item": item, "table": table.name}, outcome))
            locators = [at for at, _ in records]
            rows = papers.rows_for_storage(records)
            mined.append(
                (MinedTable(table, rows, described.item.source.source_id, locators, note), described.item.source)
            )
        return mined

    def _documents(self, plan: Plan, known: Study, found: Findings, terms: set[str]) -> list[MinedDocument]:
        by_name = {known.tables[item].table.name: item for item in plan.items}
        documents: list[MinedDocument] = []
        for item in plan.items:
            dataset = known.tables[item].item.dataset
            if dataset.papers is not None:
                try:
                    _, files = locate(dataset.package, dataset.path, dataset.keep)
                except MissingFiles:
                    continue
                documents += papers.texts_of(known.tables[item].item, files, terms, 3)
        largest = max(found.tables, key=lambda mined: (len(mined.rows), mined.table.name))
        order = {item: number for number, item in enumerate(plan.items)}
        main = min(found.tables, key=lambda mined: (len(mined.rows) < 15, order[by_name[mined.table.name]]))
        documents.append(papers.page_of(main))
        told = set()
        for item in plan.items:
            package = known.tables[item].item.package
            about = papers.readme_of(known.tables[item].item) if package not in told else None
            told.add(package)
            if about and sum(document.document.name.startswith("about_") for document in documents) < 2:
                documents.append(about[0])
                _add_source(found, about[1])
        documents.append(papers.dictionary_of(found.tables))
        documents.append(papers.extract_of(largest) if largest is not main else papers.sample_of(main))
        if len(documents) < DOCUMENTS:
            licence = papers.licence_of(known.tables[plan.items[0]].item)
            if licence:
                documents.append(licence[0])
                _add_source(found, licence[1])
        return documents[: DOCUMENTS + 3]


def _step(tool: str, arguments: dict[str, Any], outcome: str) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "outcome": outcome}


def _add_source(found: Findings, source: Source) -> None:
    if all(source.source_id != known.source_id for known in found.sources):
        found.sources.append(source)
