"""Programs that read a table out of a document."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from worlds import shop_database, shop_rows, shop_tools

from schemas.database import Document
from tasks.environment import EnvironmentImage, build_snapshot
from tasks.sandbox import SandboxWorker
from tasks.synthesis import gates, synthesize
from tasks.synthesis.families.document import document
from tasks.synthesis.families.kit import Kit
from tasks.synthesis.families.tables import reading_lines, rows_of
from tasks.synthesis.program import _candidate
from tasks.synthesis.prompt import Speaker
from tasks.synthesis.replay import execute
from tasks.synthesis.synthesize import Writer, fitting_kinds

ROWS = shop_rows()
SOME = ROWS["products"][:6]
HEAD = ("product_id", "name", "price")
CSV = "\n".join([",".join(HEAD), *(",".join(str(row[name]) for name in HEAD) for row in SOME)]) + "\n"
HTML = "<table>\n" + "\n".join(
    ["<tr>" + "".join(f"<th>{name.replace('_', ' ')}</th>" for name in HEAD) + "</tr>"]
    + ["<tr>" + "".join(f"<td>{row[name]}</td>" for name in HEAD) + "</tr>" for row in SOME]
) + "\n</table>\n"  # fmt: skip
JSON = json.dumps({"record": SOME[2]}, indent=1)
TEXTS = {"text/csv": CSV, "text/html": HTML, "application/json": JSON}


@pytest.fixture(scope="module")
def worker() -> Iterator[SandboxWorker]:
    with SandboxWorker() as worker:
        yield worker


@pytest.mark.parametrize("media_type", sorted(TEXTS))
def test_planner_and_script_read_the_same_rows(media_type: str) -> None:
    found: dict[str, object] = {"text": TEXTS[media_type]}
    exec("\n".join(reading_lines(media_type)), found)
    rows = rows_of(media_type, TEXTS[media_type])
    assert found["rows"] == rows
    assert rows[0]["product_id"] in {row["product_id"] for row in SOME}


def test_documents_without_a_table_have_no_rows() -> None:
    assert rows_of("application/json", "[1, 2]") == rows_of("application/json", "{") == []
    assert rows_of("text/markdown", "# Title") == rows_of("text/html", "<p>no table</p>") == []


@pytest.mark.parametrize("media_type", sorted(TEXTS))
def test_the_program_agrees_with_the_database(media_type: str, worker: SandboxWorker) -> None:
    kind = Document(name="list", media_type=media_type, title="Our choice")  # type: ignore[arg-type]
    database = shop_database().model_copy(update={"documents": (kind,)})
    snapshot = build_snapshot(database, ROWS, [(kind, TEXTS[media_type])])
    worker.load(EnvironmentImage.of(database, list(shop_tools()), snapshot))
    writer = Writer(database, snapshot, shop_tools())
    for seed in range(4):
        speaker = Speaker(writer.atlas, random.Random(seed), "train")
        program = document(Kit(writer.atlas, random.Random(seed), speaker, writer.links))
        assert program is not None
        candidate = _candidate(writer.atlas, "document", program, speaker)
        run = execute(worker, candidate.oracle)
        assert gates.executes(candidate, run) == gates.independent(candidate, run) == ""
        assert gates.grounded(candidate, run, writer.atlas) == ""
        assert '"Our choice"' in candidate.prompt


def test_targeting_documents_makes_programs_only(worker: SandboxWorker) -> None:
    kind = Document(name="list", media_type="text/csv", title="Our choice")
    database = shop_database().model_copy(update={"documents": (kind,)})
    snapshot = build_snapshot(database, ROWS, [(kind, CSV)])
    writer = Writer(database, snapshot, shop_tools())
    assert fitting_kinds(writer.atlas, ("graph", "program"), ["document"]) == ("program",)
    assert fitting_kinds(writer.atlas, ("graph", "program"), ["create", "loop"]) == ("graph", "program")
    made = synthesize(database, snapshot, shop_tools(), seed=0, n=2, skills=["document"], worker=worker)
    assert made.tasks and all("document" in task.skills for task in made.tasks)
