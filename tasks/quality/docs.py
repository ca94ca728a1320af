"""Data Docs: static pages that need nothing but themselves, so that they show their tables offline."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from tasks.quality.release import StoreAudit, survivors_of
from tasks.quality.views import MOST_ROWS, dataset_views, environment_views

TEMPLATES = Path(__file__).parent / "templates"


def render_docs(audit: StoreAudit) -> dict[str, str]:
    """Return file name -> page: `index.html` and one page a dataset, linked to each other and to `../report.html`.

    On `environments.html` each environment has an anchor of its id; on `index.html` each dataset one of its name. All
    texts are escaped, and a content security policy keeps the pages from loading anything.
    """
    environment = _environment()
    views = dataset_views(audit)
    shared: dict[str, Any] = {"views": views, "summary": audit.summary(), "most_rows": MOST_ROWS}
    gates: dict[str, int] = {}
    for row in audit.quarantined:
        for gate in dict.fromkeys(gate for gate, _ in row.reasons):
            gates[gate] = gates.get(gate, 0) + 1
    pages = {
        "index.html": environment.get_template("index.html.j2").render(
            **shared, gates=sorted(gates.items(), key=lambda item: (-item[1], item[0]))
        )
    }
    template = environment.get_template("dataset.html.j2")
    for view in views:
        extra = environment_views(audit.outcome) if view.name == "environments" else []
        survivors = survivors_of(audit.outcome) if view.name == "survivors" else []
        scores = audit.scores if view.name == "set_scores" else ()
        judged = audit.outcome.datasets["judge_agreement"].records if view.name == "judge_agreement" else ()
        pages[f"{view.name}.html"] = template.render(
            **shared, view=view, environments=extra, survivors=survivors, scores=scores, judged=judged
        )
    return pages


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "words": lambda name: str(name).replace("_", " "),
        "pretty": _pretty,
        "count": "{:,}".format,
    }
    environment.globals["style"] = Markup((TEMPLATES / "style.css").read_text(encoding="utf-8"))
    return environment


def _pretty(row: str) -> str:
    """Return a quarantined row with one column a line, long values cut."""
    if not row:
        return ""
    lines = []
    for name, value in json.loads(row).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {text if len(text) <= 300 else text[:297] + '...'}")
    return "\n".join(lines)
