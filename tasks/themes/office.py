"""Turns Word (docx) and PDF documents into Markdown, so that the reader of PRDs reads all three.

Headings and lists of a docx are told by its paragraph styles; headings of a PDF by letters that are larger than those
of the body text: the largest size is level 1, the next level 2, and so on. Run it in a reader process only: both
formats can be made to hang or to swell.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from typing import Any

from tasks.themes.reading import UnreadableSource

MAX_UNZIPPED = 100_000_000
MAX_PAGES = 300
_LIST_MARK = re.compile(r"^[•▪●◦‣·–*-]\s+")
_STYLED_LEVEL = re.compile(r"heading (\d)", re.IGNORECASE)


def is_docx(content: bytes) -> bool:
    """Say whether the bytes are a zip file with a Word document in it."""
    if content[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return "word/document.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def is_pdf(content: bytes) -> bool:
    """Say whether the bytes begin as a PDF does."""
    return content[:5] == b"%PDF-"


def docx_markdown(content: bytes) -> str:
    """Return a Word document's paragraphs and table rows as Markdown.

    Raises:
        UnreadableSource: gate broken_docx, or too_large if it unzips to more than MAX_UNZIPPED bytes.
    """
    import docx

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(one.file_size for one in archive.infolist()) > MAX_UNZIPPED:
            raise UnreadableSource("too_large", f"it unzips to more than {MAX_UNZIPPED // 1_000_000} MB")
    try:
        document = docx.Document(io.BytesIO(content))
        lines: list[str] = []
        for part in document.iter_inner_content():
            if hasattr(part, "rows"):
                lines += ["- " + ": ".join(dict.fromkeys(cell.text.strip() for cell in row.cells)) for row in part.rows]
            else:
                lines.append(_paragraph(part))
    except Exception as error:  # whatever the parser says of a foreign file is one rejection
        raise UnreadableSource("broken_docx", f"the Word document cannot be read: {_one_line(error)}") from None
    return "\n\n".join(line for line in lines if line)


def pdf_markdown(content: bytes) -> str:
    """Return a PDF's lines as Markdown.

    Raises:
        UnreadableSource: gate broken_pdf, too_large for more than MAX_PAGES pages, or no_text for a scan.
    """
    import pdfplumber

    lines: list[tuple[float, str]] = []
    try:
        with pdfplumber.open(io.BytesIO(content)) as document:
            if len(document.pages) > MAX_PAGES:
                raise UnreadableSource("too_large", f"more than {MAX_PAGES} pages: split the document")
            for page in document.pages:
                lines += [_sized(line) for line in page.extract_text_lines(strip=True)]
                page.close()
    except UnreadableSource:
        raise
    except Exception as error:  # whatever the parser says of a foreign file is one rejection
        raise UnreadableSource("broken_pdf", f"the PDF cannot be read: {_one_line(error)}") from None
    if not lines:
        raise UnreadableSource("no_text", "the PDF holds no text: a scan has to be recognised first")
    return _with_headings(lines)


def _paragraph(paragraph: Any) -> str:
    text = " ".join(paragraph.text.split())
    style = str(getattr(paragraph.style, "name", "") or "")
    level = 1 if style == "Title" else int(found[1]) if (found := _STYLED_LEVEL.match(style)) else 0
    if not text:
        return ""
    if level:
        return f"{'#' * level} {text}"
    return f"- {text}" if style.startswith("List") else text


def _sized(line: dict[str, Any]) -> tuple[float, str]:
    """Return a line's most frequent letter size, in half points, and its text."""
    sizes = Counter(round(2 * char["size"]) / 2 for char in line["chars"])
    return max(sizes, key=lambda size: (sizes[size], size)), line["text"]


def _with_headings(lines: list[tuple[float, str]]) -> str:
    letters: Counter[float] = Counter()
    for size, text in lines:
        letters[size] += len(text)
    body = max(letters, key=lambda size: (letters[size], size))
    levels = {size: level for level, size in enumerate(sorted((s for s in letters if s > body + 0.5), reverse=True), 1)}
    out = []
    for size, text in lines:
        marked = _LIST_MARK.sub("- ", text)
        out.append(f"\n{'#' * min(levels[size], 6)} {text}\n" if size in levels else marked)
    return "\n".join(out)


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
