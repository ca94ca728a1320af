"""Draw the report again from what the store holds now, whichever commands have worked on it since the last run."""

from __future__ import annotations

import datetime
import json
from typing import Any

from flows.errors import Refused
from flows.holdings import holdings
from flows.report import gather, write_report
from schemas.base import canonical_json
from schemas.settings import DEFAULTS, QUICK
from tasks.store import list_keys, open_store


def redraw(store_uri: str) -> dict[str, Any]:
    """Write report.html anew and return {report: its address, run_id, redrawn_at}.

    Costs and seed are those of the latest `run`, whose record notes what the page shows. A store that only single
    stages have worked on gets a page as well.

    Raises:
        Refused: if the store holds no themes and no environments.
        StoreError: if the store cannot be read or written.
    """
    objects = open_store(store_uri)
    if not list_keys(objects, "themes") and not list_keys(objects, "environments"):
        raise Refused(f"nothing to report in {objects.uri} yet: start with `agentworld run --store {store_uri}`")
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    records = [(key, json.loads(objects.get(key))) for key in objects.list("runs/")]
    key, record = max(records, key=lambda pair: pair[1]["started_at"], default=("", {}))
    settings = (QUICK if record.get("quick") else DEFAULTS).model_copy(
        update={"seed": record.get("seed", DEFAULTS.seed)}
    )
    run_id, started_at = record.get("run_id", "of single stages"), record.get("started_at", now)
    data = gather(
        objects.uri, settings, run_id, started_at, record.get("stages", ()), record.get("missing", ()), redrawn_at=now
    )
    report = write_report(data, objects.uri)
    if key:
        objects.put(key, canonical_json({**record, "reported": holdings(objects.uri)}).encode())
    return {"report": report, "run_id": run_id, "redrawn_at": now}
