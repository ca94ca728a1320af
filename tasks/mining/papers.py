"""Documents of a world: the texts that its sources hold, and renderings of its mined tables."""

from __future__ import annotations

import csv
import html
import io
import json
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path

import yaml

from schemas.base import Scalar
from schemas.database import Document, Table
from schemas.theme import Source
from tasks.mining.corpus.items import CorpusItem, Record
from tasks.mining.corpus.locate import source_of
from tasks.mining.corpus.packages import INSTALLED, PACKAGES, STANDARD_LIBRARY
from tasks.mining.findings import MinedDocument, MinedTable
from tasks.retrieval.bm25 import words

LONGEST = 8_000
"""Characters that are kept of a text; it is cut at the end of a paragraph, and its transform says so."""

RENDERED_ROWS = 40


def readme_of(item: CorpusItem) -> tuple[MinedDocument, Source] | None:
    """Return the description of an item's package from its metadata, or None if it has none."""
    path = _metadata(item.package, "METADATA")
    if path is None:
        return None
    headers, _, body = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")
    text, cut = shortened(body.strip() or (HeaderParser().parsestr(headers).get_payload() or ""))
    if len(text) < 80:
        return None
    package = PACKAGES[item.package]
    where = f"*.dist-info/{path.name}"
    title = f"About the data package {item.package}"
    source = source_of(item.package, item.version, where, {str(path): path}, package.licence, title)
    markdown = "markdown" in (HeaderParser().parsestr(headers)["Description-Content-Type"] or "")
    document = Document(
        name=f"about_{_slug(item.package)}.{'md' if markdown else 'txt'}",
        media_type="text/markdown" if markdown else "text/plain",
        title=title,
        description=f"What {item.package} is, in its authors' words.",
    )
    return MinedDocument(document, text + "\n", source.source_id, "description", "extract" + cut), source


def licence_of(item: CorpusItem) -> tuple[MinedDocument, Source] | None:
    """Return the licence file of an item's package, or None if it ships none."""
    path = _metadata(item.package, "LICENSE") or _metadata(item.package, "LICENCE") or _metadata(item.package, "COPY")
    if path is None:
        return None
    text, cut = shortened(path.read_text(encoding="utf-8", errors="replace").strip())
    package = PACKAGES[item.package]
    title = f"Licence of the data package {item.package}"
    where = f"*.dist-info/{path.name}"
    source = source_of(item.package, item.version, where, {str(path): path}, package.licence, title)
    document = Document(name=f"licence_{_slug(item.package)}.txt", media_type="text/plain", title=title)
    return MinedDocument(document, text + "\n", source.source_id, path.name, "extract" + cut), source


def texts_of(item: CorpusItem, files: dict[str, Path], wanted: set[str], limit: int) -> list[MinedDocument]:
    """Return up to `limit` whole texts in an item's files, those with more `wanted` words in the title first."""
    if item.dataset.papers is None:
        return []
    papers = list(item.dataset.papers({name: path.read_bytes() for name, path in files.items()}))
    papers.sort(key=lambda paper: (-len(wanted & set(words(f"{paper.name} {paper.title} {paper.title}"))), paper.name))
    found = []
    for paper in papers[:limit]:
        content, cut = shortened(paper.content)
        document = Document(name=paper.name, media_type=paper.media_type, title=paper.title)  # type: ignore[arg-type]
        found.append(MinedDocument(document, content, item.source.source_id, paper.locator, "extract" + cut))
    return found


def shortened(text: str) -> tuple[str, str]:
    """Return a text cut at a paragraph's end to at most LONGEST characters, and what to add to its transform."""
    if len(text) <= LONGEST:
        return text, ""
    end = text.rfind("\n\n", 0, LONGEST)
    end = end if end > LONGEST // 2 else text.rfind("\n", 0, LONGEST)
    end = end if end > 0 else LONGEST
    return text[:end], f"; first {end} of {len(text)} characters"


def page_of(mined: MinedTable) -> MinedDocument:
    """Render the first rows of a table as an HTML page."""
    table, rows = mined.table, mined.rows[:RENDERED_ROWS]
    names = [column.name for column in table.columns]
    head = "".join(f"<th>{html.escape(name.replace('_', ' '))}</th>" for name in names)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(row[name]))}</td>" for name in names) + "</tr>" for row in rows
    )
    title = f"{table.nouns.capitalize()} at a glance"
    content = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{html.escape(title)}</title></head>\n'
        f"<body>\n<h1>{html.escape(title)}</h1>\n<p>{html.escape(table.description)}</p>\n<table>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n</body>\n</html>\n"
    )
    document = Document(name=f"{table.name}.html", media_type="text/html", title=title, description=table.description)
    return MinedDocument(document, content, mined.source_id, f"first {len(rows)} rows of {table.name}", "render:html")


def extract_of(mined: MinedTable) -> MinedDocument:
    """Render the first rows of a table as CSV."""
    rows, out = mined.rows[:RENDERED_ROWS], io.StringIO()
    writer = csv.DictWriter(out, [column.name for column in mined.table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    name = mined.table.name
    document = Document(
        name=f"{name}.csv", media_type="text/csv", title=f"Extract of {mined.table.nouns}",
        description=f"The first {len(rows)} {mined.table.nouns}.",
    )  # fmt: skip
    return MinedDocument(document, out.getvalue(), mined.source_id, f"first {len(rows)} rows of {name}", "render:csv")


def sample_of(mined: MinedTable) -> MinedDocument:
    """Render one row of a table, with what its columns mean, as JSON."""
    table, row = mined.table, mined.rows[0]
    content = {
        "record": row,
        "columns": {c.name: {"description": c.description, "unit": c.unit} for c in table.columns},
        "locator": mined.locators[0],
    }
    document = Document(
        name=f"{table.name}_record.json", media_type="application/json", title=f"One {table.noun} as a record",
        description=f"An example {table.noun} with the meaning of its fields.",
    )  # fmt: skip
    text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    return MinedDocument(document, text, mined.source_id, mined.locators[0], "render:json")


def dictionary_of(tables: list[MinedTable]) -> MinedDocument:
    """Render what all tables and columns mean as YAML; its source is the first table's."""
    content = {mined.table.name: _dictionary(mined.table) for mined in tables}
    document = Document(
        name="data_dictionary.yaml", media_type="application/yaml", title="Data dictionary",
        description="What each table and column means.",
    )  # fmt: skip
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
    return MinedDocument(document, text, tables[0].source_id, "schemas of the mined tables", "render:yaml")


def _dictionary(table: Table) -> dict[str, object]:
    return {
        "description": table.description,
        "key": table.key,
        "columns": {
            column.name: column.description + (f" ({column.unit})" if column.unit else "") for column in table.columns
        },
    }


def _shown(value: Scalar) -> str:
    return "" if value is None else str(value)


def _slug(text: str) -> str:
    return text.lower().replace("-", "_")


def _metadata(package: str, start: str) -> Path | None:
    if package in (STANDARD_LIBRARY, INSTALLED) or package not in PACKAGES:
        return None
    try:
        distribution = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return None
    for file in distribution.files or ():
        if ".dist-info" in file.parts[0] and file.name.upper().startswith(start):
            path = Path(str(distribution.locate_file(file)))
            if path.is_file():
                return path
    return None


def rows_for_storage(records: list[Record]) -> list[dict[str, Scalar]]:
    """Return rows as the snapshot holds them: booleans become 0 and 1."""
    return [
        {name: int(value) if isinstance(value, bool) else value for name, value in row.items()} for _, row in records
    ]
