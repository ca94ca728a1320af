"""Tables inside documents: read them here, and write the script lines that read them in the sandbox."""

from __future__ import annotations

import csv
import html
import io
import json
import re

_ROW, _CELL = r"<tr>(.*?)</tr>", r"<t[hd]>(.*?)</t[hd]>"


def rows_of(media_type: str, content: str) -> list[dict[str, str]]:
    """Return the rows of the one table that a document holds, cells as text; [] if it holds none.

    csv: the file; html: the first table, header cells in snake case; json: the object under "record".
    """
    if media_type == "text/csv":
        return list(csv.DictReader(io.StringIO(content)))
    if media_type == "text/html":
        cells = [[html.unescape(c) for c in re.findall(_CELL, row, re.S)] for row in re.findall(_ROW, content, re.S)]
        if not cells:
            return []
        names = [name.replace(" ", "_") for name in cells[0]]
        return [dict(zip(names, row, strict=True)) for row in cells[1:] if len(row) == len(names)]
    if media_type == "application/json":
        try:
            record = json.loads(content).get("record", {})
        except (ValueError, AttributeError):
            return []
        return [{name: str(value) for name, value in record.items()}] if isinstance(record, dict) and record else []
    return []


def reading_lines(media_type: str) -> list[str]:
    """Return the script lines that turn `text` into `rows` as `rows_of` does.

    Raises:
        KeyError: for a media type that holds no table.
    """
    return {
        "text/csv": ["import csv, io", "rows = list(csv.DictReader(io.StringIO(text)))"],
        "text/html": [
            "import html, re",
            f"cells = [[html.unescape(c) for c in re.findall({_CELL!r}, row, re.S)]",
            f"         for row in re.findall({_ROW!r}, text, re.S)]",
            "names = [name.replace(' ', '_') for name in cells[0]]",
            "rows = [dict(zip(names, row)) for row in cells[1:] if len(row) == len(names)]",
        ],
        "application/json": [
            "import json",
            "rows = [{name: str(value) for name, value in json.loads(text)['record'].items()}]",
        ],
    }[media_type]
