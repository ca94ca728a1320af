"""A small site about lighthouses, a theme for it, and what a good researcher does there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chat_server import Scripted, call, calls, say
from openpyxl import Workbook
from web_sites import Answer, Site, page, serve

from schemas.research import ResearchSettings
from schemas.theme import Operation, Theme
from tasks.mining import Corpus
from tasks.mining.corpus.folder import folder_items

N_LIGHTS, N_HARBOURS, N_REPAIRS = 40, 24, 60

RULES = (
    "A repair is refused while another repair of the same lighthouse is open. A lighthouse of more than 40 metres is "
    "inspected twice a year. Visits are booked at the harbour that the lighthouse belongs to."
)


def light_theme(**changes: Any) -> Theme:
    """A theme about lighthouses."""
    values: dict[str, Any] = {
        "theme_id": "lighthouse-visits-00000000",
        "kind": "prd",
        "name": "Lighthouse visits",
        "description": "Book visits of lighthouses and order their repairs.",
        "terms": ("lighthouse", "harbour", "visit", "repair"),
        "operations": (Operation(name="book_visit", description="Book a visit of a lighthouse."),),
        "needs": ("lighthouses with their harbours and heights",),
        "source_id": "0" * 16,
        "source_uri": "file:///lighthouses.md",
        "source_version": "1",
        "source_sha256": "0" * 64,
        "licence": "Apache-2.0",
    }
    return Theme.model_validate({**values, **changes})


def harbour(n: int) -> tuple[str, str, str]:
    """Return code, name and county of a harbour."""
    return f"HB{n:02}", f"Port {chr(64 + n)}{'aeiou'[n % 5]}rn", ("North", "South", "East")[n % 3]


def light(n: int) -> tuple[str, str, str, float, int]:
    """Return id, name, harbour, height and year of a lighthouse."""
    colour = ("Red", "White", "Green", "Old", "New")[n % 5]
    return f"L{n:03}", f"{colour} Light {n}", harbour(1 + n % N_HARBOURS)[0], 20 + n * 0.5, 1850 + n


def _harbours() -> str:
    rows = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in harbour(n)) + "</tr>" for n in range(1, 25))
    return f"<table><caption>Harbours</caption><tr><th>Code<th>Name<th>County</tr>{rows}</table>"


def _lights() -> str:
    lines = [",".join(map(str, light(n))) for n in range(1, N_LIGHTS + 1)]
    return "\n".join(["Light ID,Light name,Harbour,Height (m),Built", *lines]) + "\n"


def _repairs() -> bytes:
    book, out = Workbook(), io.BytesIO()
    sheet = book.active
    sheet.append(["Repair", "Light", "Cost EUR", "State"])
    for n in range(1, N_REPAIRS + 1):
        sheet.append([f"R{n:03}", light(1 + n % N_LIGHTS)[0], 100 + 7 * n, ("open", "done")[n % 2]])
    book.save(out)
    return out.getvalue()


@contextmanager
def light_site() -> Iterator[Site]:
    """Serve the site: a page with a table, rules and links, a CSV file and a workbook."""
    body = (
        f"<h1>The register of lighthouses</h1><p>{RULES}</p>{_harbours()}"
        "<a href=/lights.csv>All lighthouses (CSV)</a> <a href=/repairs.xlsx>Repairs (Excel)</a>"
        "<footer><a rel=license href=https://creativecommons.org/licenses/by/4.0/>CC BY 4.0</a></footer>"
    )
    answers = {
        "/": page(body, "<title>Register of lighthouses</title>"),
        "/lights.csv": Answer(_lights(), headers={"Content-Type": "text/csv"}),
        "/repairs.xlsx": Answer(
            _repairs(), headers={"Content-Type": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
        ),
    }
    with serve(answers) as site:
        yield site


def own_corpus(folder: Path, name: str, text: str) -> Corpus:
    """Return a corpus of one CSV file of the user's own."""
    path = folder / f"{name}.csv"
    path.write_text(text, encoding="utf-8")
    items, _ = folder_items(path)
    return Corpus([(item, {path.name: path}) for item in items])


def settings_for(*sites: Site, **changes: Any) -> ResearchSettings:
    """Return settings under which the pages of sites may be opened."""
    base = {
        "pages": tuple(f"{site.url}/" for site in sites),
        "allow_hosts": tuple(site.host for site in sites),
        "host_interval": 0,
    }
    return ResearchSettings.model_validate({**base, **changes})


def harbours_order(**changes: Any) -> dict[str, Any]:
    """Return the arguments that save the harbours."""
    columns = [
        {"name": "harbour_code", "source": "Code", "description": "Code of the harbour."},
        {"name": "harbour_name", "source": "Name"},
        {"name": "county", "source": "County"},
    ]
    order = {"name": "harbours", "noun": "harbour", "description": "A harbour of the coast.", "columns": columns}
    return {**order, "key": "harbour_code", "label": "harbour_name", "source": "p1.t1", **changes}


def lights_order(**changes: Any) -> dict[str, Any]:
    """Return the arguments that save the lighthouses, as cleaned by code."""
    columns = [
        {"name": "light_id", "description": "Number of the lighthouse in the register."},
        {"name": "light_name"},
        {"name": "harbour_code", "description": "The harbour that it belongs to."},
        {"name": "height_m", "unit": "m"},
        {"name": "height_ft", "unit": "ft"},
        {"name": "built"},
    ]
    order = {"name": "lighthouses", "noun": "lighthouse", "description": "A lighthouse.", "columns": columns}
    links = [{"column": "harbour_code", "table": "harbours"}]
    return {**order, "key": "light_id", "source": "o1", "derived": ["height_ft"], "references": links, **changes}


CLEANING = """
result = [
    {"light_id": r["Light ID"], "light_name": r["Light name"], "harbour_code": r["Harbour"],
     "height_m": r["Height (m)"], "height_ft": round(r["Height (m)"] * 3.2808, 1), "built": r["Built"], "_at": r["_at"]}
    for r in tables["p2.t1"]
]
print(len(result), "lights")
"""

REPAIRS = {
    "name": "repairs", "noun": "repair", "description": "A repair of a lighthouse.", "source": "p3.t1",
    "key": "repair_id",
    "columns": [
        {"name": "repair_id", "source": "Repair"}, {"name": "light_id", "source": "Light"},
        {"name": "cost", "source": "Cost EUR", "unit": "EUR"}, {"name": "state", "source": "State"},
    ],
    "references": [{"column": "light_id", "table": "lighthouses"}],
}  # fmt: skip

TERMS = {
    "name": "repair_rules", "title": "Rules of repairs", "page": "p1", "from_words": "A repair is refused",
    "to_words": "twice a year.",
}  # fmt: skip


def good_script(site: Site) -> list[Scripted]:
    """What a good researcher does: collect from a page and a CSV file, then connect a workbook, then find no more."""
    return [
        calls(("search_data", {"query": "lighthouse"}), ("open_page", {"url": f"{site.url}/"})),
        call("read_file", {"url": f"{site.url}/lights.csv"}),
        calls(
            ("run_python", {"tables": ["p2.t1"], "code": CLEANING}), ("save_table", harbours_order()),
            ("save_document", TERMS),
        ),
        call("save_table", lights_order()),
        say("I saved harbours and lighthouses."),
        call("read_file", {"url": f"{site.url}/repairs.xlsx"}),
        call("save_table", REPAIRS),
        say("Repairs join the lighthouses."),
        say("There is nothing else to join."),
    ]  # fmt: skip


def obeying(first: list[Scripted], obey: Callable[[str], list[Scripted]]) -> Callable[[dict[str, Any]], Scripted]:
    """Return a script that makes its first moves, then does what the last tool result tells it, then stops."""
    left = list(first)
    told = False

    def reply(body: dict[str, Any]) -> Scripted:
        nonlocal told
        if not left and not told:
            told = True
            left.extend(obey(str(body["messages"][-1].get("content") or "")))
        return left.pop(0) if left else say("done")

    return reply
