"""A researcher with a model, over HTTP against a scripted server and loopback sites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Scripted, call, refusal, say, status
from mining_example import check_invariants, is_connected, opened
from models_example import gateway_for
from research_example import (
    N_HARBOURS,
    N_LIGHTS,
    N_REPAIRS,
    good_script,
    harbours_order,
    light_site,
    light_theme,
    lights_order,
    own_corpus,
    settings_for,
)
from web_sites import Answer, Site

from schemas.research import ResearchSettings
from tasks.mining import Corpus, Findings, MinedTable, mine, open_corpus, research
from tasks.mining.agent import ModelResearcher
from tasks.store import LocalStore
from tasks.web import Limits, Searxng, Web

EMPTY = Corpus(())
LAST = [call("save_table", harbours_order()), say("done"), say("done")]


def first(site: Site) -> Scripted:
    """The call that opens the page."""
    return call("open_page", {"url": f"{site.url}/"})


@pytest.fixture(scope="module")
def site():
    with light_site() as site:
        yield site


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def run(
    script: Any, store: LocalStore, settings: ResearchSettings, corpus: Corpus = EMPTY, **choice: Any
) -> tuple[Findings, list]:
    """Research the theme by a scripted model; return the findings and the requests."""
    web = Web(store, allow=settings.allow_hosts, browser="", limits=Limits(host_interval=0))
    with ChatServer(script) as server:
        found = ModelResearcher(gateway_for(server, store, **choice), web, settings).research(light_theme(), corpus, 7)
    return found, server.requests


def results(found: Findings, tool: str) -> list[str]:
    """Return the outcomes of a tool's calls."""
    return [entry["outcome"] for entry in found.log if entry["tool"] == tool]


def test_a_good_run_becomes_typed_connected_tables_with_their_sources(site, store):
    found, requests = run(good_script(site), store, settings_for(site))
    assert [(mined.table.name, len(mined.rows)) for mined in found.tables] == [
        ("harbours", N_HARBOURS), ("lighthouses", N_LIGHTS), ("repairs", N_REPAIRS)
    ]  # fmt: skip
    lights = found.table("lighthouses").table
    assert lights.column("harbour_code").references == "harbours.harbour_code"
    assert (lights.column("height_m").type, lights.column("height_m").unit) == ("number", "m")
    assert found.table("repairs").table.column("state").role == "category"
    assert found.table("harbours").locators[0] == "table 1 row 2"
    assert "derive:height_ft" in found.table("lighthouses").transform
    source = found.source(found.table("harbours").source_id)
    assert (source.uri, source.licence, source.robots) == (f"{site.url}/", "CC-BY-4.0", "no_rules")
    assert store.exists(f"blobs/sha256/{source.sha256[:2]}/{source.sha256}")
    rules = next(document for document in found.documents if document.document.name == "repair_rules.txt")
    assert rules.content.startswith("A repair is refused while") and rules.content.endswith("twice a year.\n")
    assert len(requests) == 9


def test_rounds_stop_when_the_subgraphs_no_longer_grow(site, store):
    found, requests = run(good_script(site), store, settings_for(site))
    assert [(round_.ended, round_.subgraphs) for round_ in found.rounds] == [("done", 2), ("done", 6), ("done", 6)]
    asked = [request.text for request in requests if "Make it richer" in request.text]
    assert "harbours.harbour_code, lighthouses.light_id" in asked[0]
    assert "lighthouses.harbour_code -> harbours.harbour_code" in asked[0]


def test_the_findings_make_a_world(site, store):
    web = Web(store, allow=[site.host], browser="", limits=Limits(host_interval=0))
    with ChatServer(good_script(site)) as server:
        researcher = ModelResearcher(gateway_for(server, store), web, settings_for(site))
        world = mine(light_theme(), EMPTY, seed=7, researcher=researcher)
    assert {"harbours", "lighthouses", "repairs"} <= {table.name for table in world.database.tables}
    assert check_invariants(world) == [] and is_connected(world)
    assert {p.source_id for p in world.provenance} == {source.source_id for source in world.sources}
    row = opened(world.snapshot).execute("SELECT height_ft FROM lighthouses WHERE light_id = 'L001'").fetchone()
    assert row == (67.3,)


def test_a_rerun_asks_nothing_and_finds_the_same(site, store):
    first, _ = run(good_script(site), store, settings_for(site))
    asked = len(site.asked)
    again, requests = run([], store, settings_for(site))
    assert not requests and len(site.asked) == asked
    assert again == first


INVENTED = {
    "values of nobody": (
        [{"page": "p1", "quote": "The register of lighthouses", "values": {"a": "Bishop Rock", "b": 49}}], "Bishop Rock"
    ),
    "a quote of nobody": (
        [{"page": "p1", "quote": "Bishop Rock stands 49 metres high", "values": {"a": "Bishop Rock", "b": 49}}],
        "does not hold the quote",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", INVENTED)
def test_invented_rows_are_quarantined_and_the_model_is_told(site, store, case):
    rows, why = INVENTED[case]
    order = {"name": "lights", "noun": "light", "description": "x", "rows": rows}
    order["columns"] = [{"name": "a"}, {"name": "b"}]
    script = [first(site), call("save_table", order), *LAST]
    found, requests = run(script, store, settings_for(site))
    assert [mined.table.name for mined in found.tables] == ["harbours"]
    assert found.refused == {"invented": 1}
    assert [r.gate for r in found.rejections if "/lights" in r.key] == ["invented"]
    assert why in requests[2].text


def test_code_cannot_pass_literals_off_as_data(site, store):
    code = """
result = [{"light_id": f"X{n}", "light_name": f"Ghost {n}", "harbour_code": "HB01", "height_m": 10.0 + n,
           "height_ft": 1.0, "built": 1900, "_at": f"p2.t1:{n}"} for n in range(1, 31)]
"""
    script = [
        call("open_page", {"url": f"{site.url}/"}),
        call("read_file", {"url": f"{site.url}/lights.csv"}),
        call("run_python", {"tables": ["p2.t1"], "code": code}),
        call("save_table", lights_order(references=[])),
        call("save_table", lights_order(references=[], derived=["light_name", "height_ft"])),
        *LAST,
    ]
    found, requests = run(script, store, settings_for(site))
    assert found.refused == {"invented": 1}
    assert "the derived column light_name holds texts" in requests[5].text
    assert [mined.table.name for mined in found.tables] == ["harbours"]


def test_a_reference_that_does_not_hold_is_told(site, store):
    wrong = harbours_order(references=[{"column": "county", "table": "lighthouses"}])
    script = [*good_script(site)[:4], call("save_table", wrong), say("done"), say("done")]
    found, requests = run(script, store, settings_for(site))
    assert "0% of its values are keys (light_id) there" in requests[5].text
    assert found.table("lighthouses").table.column("harbour_code").references == "harbours.harbour_code"


MISTAKES = [
    (("open_page", {"url": "/nowhere"}), "answers 404"),
    (("read_more", {"id": "p9"}), "there is no table 'p9'"),
    (("save_table", harbours_order(source="p1.t7")), "there is no table 'p1.t7'; there are: p1.t1"),
    (("save_table", harbours_order(name="../../etc/passwd")), "do not fit"),
    (("save_table", harbours_order(key="nope")), "'nope' is none of the columns"),
    (("run_python", {"tables": ["p1.t1"], "code": "result = [{'a': 1}]"}), "has no '_at'"),
    (("run_python", {"tables": ["p1.t1"], "code": "import socket; socket.socket().connect(('1.1.1.1', 80))"}), "Error"),
    (("run_python", {"tables": ["p1.t1"], "code": "print(open('/etc/passwd').read())"}), "No such file"),
    (("run_python", {"tables": ["p1.t1"], "code": "import os; print(dict(os.environ))"}), "printed"),
    (("open_data", {"item_id": "nothing/here"}), "there is no data set"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "told"), MISTAKES, ids=lambda value: str(value)[:60])
def test_mistakes_are_told_and_the_work_goes_on(site, store, asked, told):
    name, given = asked
    given = {**given, "url": site.url + given["url"]} if "url" in given else given
    script = [first(site), call(name, given), *LAST]
    found, requests = run(script, store, settings_for(site))
    assert told in requests[2].body["messages"][-1]["content"]
    assert [mined.table.name for mined in found.tables] == ["harbours"]


@pytest.mark.parametrize(
    ("reply", "gate"),
    [(refusal(), "model_refused"), (status(400), "model_unreachable")],
    ids=["refused", "unreachable"],
)
def test_where_the_model_fails_rules_mine_the_theme(site, store, reply, gate, tmp_path):
    corpus = own_corpus(tmp_path, "beacons", "beacon_code,colour\n" + "".join(f"B{n},red\n" for n in range(30)))
    theme = light_theme(name="Beacon register", needs=("beacons with their colours",), terms=("beacon", "colour"))
    script = [call("open_page", {"url": f"{site.url}/"}), call("save_table", harbours_order()), reply]
    with ChatServer(script) as server:
        web = Web(store, allow=[site.host], browser="", limits=Limits(host_interval=0))
        found = ModelResearcher(gateway_for(server, store, attempts=1), web, settings_for(site)).research(
            theme, corpus, 7
        )
    rules = research(theme, corpus, 7)
    assert len(rules.tables) == 1
    assert (found.researcher, found.tables, found.documents) == ("rules", rules.tables, rules.documents)
    assert [r.gate for r in found.rejections][0] == gate
    assert [entry["tool"] for entry in found.log][:2] == ["open_page", "save_table"]


def test_a_model_that_saves_nothing_leaves_the_theme_to_rules(site, store):
    found, _ = run([say("I know all lighthouses by heart.")], store, settings_for(site))
    assert found.researcher == "rules"
    assert [r.gate for r in found.rejections] == ["model_output", "no_data"]


@pytest.mark.parametrize(
    ("changes", "ended"),
    [({"steps": 5}, "steps"), ({"tokens": 9000}, "tokens"), ({"usd": 0.009}, "usd")],
)
def test_a_budget_that_ends_keeps_what_is_saved(site, store, changes, ended):
    def endless(body: dict[str, Any]) -> Scripted:
        n = len(body["messages"])
        script = [call("open_page", {"url": f"{site.url}/"}), call("save_table", harbours_order())]
        return script[n // 2 - 1] if n // 2 <= 2 else call("search_data", {"query": f"light {n}"})

    found, _ = run(endless, store, settings_for(site, **changes))
    assert [round_.ended for round_ in found.rounds] == [ended]
    assert [mined.table.name for mined in found.tables] == ["harbours"]
    assert [r.gate for r in found.rejections] == ["model_budget"]


def test_the_cap_on_money_keeps_what_is_saved(site, store):
    settings = settings_for(site)
    web = Web(store, allow=[site.host], browser="", limits=Limits(host_interval=0))
    replies = [call("open_page", {"url": f"{site.url}/"}), call("save_table", harbours_order(), content=None)]
    costly = [
        Scripted(**{**vars(replies[0]), "usage": (1000, 100)}),
        Scripted(**{**vars(replies[1]), "usage": (900_000, 9)}),
    ]
    with ChatServer([*costly, say("done")]) as server:
        gateway = gateway_for(server, store, max_cost_usd=0.5)
        found = ModelResearcher(gateway, web, settings).research(light_theme(), EMPTY, 7)
    assert [mined.table.name for mined in found.tables] == ["harbours"]
    assert [r.gate for r in found.rejections] == ["model_cost"]


def test_an_endless_loop_ends(site, store):
    found, requests = run(lambda body: call("search_data", {"query": "light"}), store, settings_for(site))
    assert len(requests) == 4
    assert [r.gate for r in found.rejections] == ["model_output", "no_data"]


def test_the_budget_of_pages_ends(site, store):
    script = [*good_script(site)[:2], call("save_table", harbours_order()), say("done"), say("done")]
    found, requests = run(script, store, settings_for(site, opened=1))
    assert "the budget of 1 pages is used up" in requests[2].text
    assert [mined.table.name for mined in found.tables] == ["harbours"]


def test_installed_data_joins_pages(site, store):
    corpus = open_corpus()
    item = next(item for item in corpus.items if item.dataset.nouns == "countries")
    columns = [{"name": name} for name in corpus.extract(item.item_id).columns]
    order = {"name": "countries", "noun": "country", "description": "A country.", "columns": columns, "source": "d1.t1"}
    search = call("search_data", {"query": "countries with codes"})
    script = [search, call("open_data", {"item_id": item.item_id}), call("save_table", order), say("done"), say("done")]
    found, requests = run(script, store, settings_for(site), corpus)
    assert item.item_id in requests[1].text
    mined: MinedTable = found.table("countries")
    assert found.source(mined.source_id) == item.source
    assert mined.table.columns[0].description == item.dataset.columns[columns[0]["name"]][1]


def test_what_a_search_shows_may_be_opened(site, store):
    hits = [{"url": f"{site.url}/lights.csv?lang=en", "title": "Lights", "content": "All lighthouses."}]
    site.answers["/search"] = Answer(json.dumps({"results": hits}), headers={"Content-Type": "application/json"})
    settings = settings_for(site, web=True, pages=())
    web = Web(store, allow=[site.host], browser="", limits=Limits(host_interval=0), engine=Searxng(site.url))
    script = [
        call("open_page", {"url": hits[0]["url"]}),
        call("web_search", {"query": "lighthouses csv"}),
        call("open_page", {"url": hits[0]["url"]}),
        say("done"),
    ]
    with ChatServer(script) as server:
        found = ModelResearcher(gateway_for(server, store), web, settings).research(light_theme(), EMPTY, 7)
    assert found.refused == {"unseen_address": 1}
    assert "All lighthouses." in server.requests[2].text
    assert '"id": "p1"' in results(found, "open_page")[1]


def test_without_web_only_given_pages_are_opened(site, store):
    settings = settings_for(site, pages=(f"{site.url}/",))
    script = [call("open_page", {"url": "https://example.org/"}), say("done")]
    found, requests = run(script, store, settings)
    assert found.refused == {"not_given": 1}
    names = {tool["function"]["name"] for tool in requests[0].body["tools"]}
    assert {"open_page", "read_file"} <= names and "web_search" not in names
    _, requests = run([say("done")], store, ResearchSettings())
    names = {tool["function"]["name"] for tool in requests[0].body["tools"]}
    assert names == {"search_data", "open_data", "read_more", "run_python", "save_table", "save_document"}


def test_what_is_left_out_is_told_at_once_and_done_ends_the_rounds(site, store):
    by_county = harbours_order(key="county", label="harbour_name")
    script = [first(site), call("save_table", by_county), *LAST[:2], say("done")]
    found, requests = run(script, store, settings_for(site))
    assert "24 rows have no county of their own: 0 have none, 21 repeat" in requests[2].text
    connect = requests[4].text
    assert "3 to 6 tables" not in connect and "Book visits of lighthouses" in connect
    assert "p1.t1 Harbours (24 rows): Code, Name, County" in connect and "39 more addresses can be opened" in connect
    assert len(requests) == 5 and [round_.ended for round_ in found.rounds] == ["done", "done"]
