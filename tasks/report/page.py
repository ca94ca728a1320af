"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from schemas.scores import AGENTS
from tasks.report.charts import charts
from tasks.report.data import ReportData
from tasks.report.figures import percent, signed
from tasks.report.views.arena import ERROR_TYPES, arm_classes, comparisons, error_bars, latest_overall, verdicts
from tasks.report.views.classes import class_rows
from tasks.report.views.examples import cards, gallery
from tasks.report.views.funnel import ENOUGH, funnel_of
from tasks.report.views.judges import judge_rows
from tasks.report.views.models import model_costs, money
from tasks.report.views.overview import QUICK_NOTE, duration, memory, plural, tiles
from tasks.report.views.scores import score_rows
from tasks.report.views.tables import audit_rows, cost_rows, environment_rows, source_rows
from tasks.report.views.yields import yields

TEMPLATES = Path(__file__).parent / "templates"
SAFE_SCHEMES = ("", "http", "https", "file")


def render_report(data: ReportData) -> str:
    """Return the whole report as one self-contained HTML document.

    Styles, charts and the one script (sorting a table) are inside; a content security policy forbids the page to load
    anything or to run any other script. All texts are escaped. Parts without data say how to get them.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= _filters()
    script = (TEMPLATES / "sort.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html.j2").render(
        data=data,
        style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_digest=digest,
        **_view(data),
    )


def safe_link(address: str) -> str:
    """Return an address if it is relative or of a harmless scheme, else '' (as for `javascript:`)."""
    address = address.strip()
    if any(ord(character) < 33 for character in address):
        return ""
    try:
        return address if urlsplit(address).scheme.lower() in SAFE_SCHEMES else ""
    except ValueError:
        return ""


def _view(data: ReportData) -> dict[str, Any]:
    rows, more = source_rows(data)
    arms = sorted({r.arm for r in data.rates} | {r.arm for r in data.results})
    return {
        "quick_note": QUICK_NOTE if data.quick else "",
        "tiles": tiles(data),
        "charts": charts(data),
        "verdicts": verdicts(data),
        "yields": yields(data),
        "scores": score_rows(data),
        "judges": judge_rows(data),
        "classes": class_rows(data),
        "agents": AGENTS,
        "funnel": funnel_of(data),
        "enough": ENOUGH,
        "environments": environment_rows(data),
        "arm_class": arm_classes(arms),
        "latest": latest_overall(data),
        "comparisons": comparisons(data),
        "error_bars": error_bars(data),
        "error_legend": [(name.replace("_", " "), f"err-{i + 1}") for i, name in enumerate([*ERROR_TYPES, "unknown"])],
        "cards": cards(data),
        "gallery": gallery(data),
        "costs": cost_rows(data),
        "models": model_costs(data),
        "sources": rows,
        "more_sources": more,
        "audits": audit_rows(data),
        "page_links": _page_links(data),
    }


def _page_links(data: ReportData) -> dict[str, str]:
    """Return the links that are not an environment's own and that are safe to follow."""
    owned = {e.env_id for e in data.environments}
    return {label: safe_link(to) for label, to in data.links.items() if label not in owned and safe_link(to)}


def _filters() -> dict[str, Callable[..., str]]:
    return {
        "percent": percent,
        "duration": duration,
        "memory": memory,
        "money": money,
        "plural": plural,
        "words": lambda name: name.replace("_", " "),
        "link": safe_link,
        "width": lambda share: f"{100 * min(1.0, max(0.0, share)):.2f}%",
        "signed": signed,
    }
