"""A build with a model for the researcher: from pages to an accepted environment, its record, variants and keys."""

from __future__ import annotations

import pytest
from chat_server import ChatServer, status
from research_example import good_script, light_site, light_theme, settings_for

from flows.browse import find
from flows.commands.options import research_of, settings_of, with_models
from flows.endings import commit
from flows.errors import Refused
from flows.research import kept_researcher, research_key
from flows.stages import code_tools, mine_world
from schemas.research import ResearchSettings
from schemas.settings import Settings
from tasks.mining import mine, open_corpus
from tasks.store import collect_garbage, open_store, read_dataset
from tasks.store.blobs import blob_key

THEME = light_theme()


@pytest.fixture
def site():
    with light_site() as site:
        yield site


def _model(monkeypatch, server: ChatServer) -> None:
    monkeypatch.setenv("AGENTWORLD_MODEL_RESEARCHER", "openai:scripted")
    monkeypatch.setenv("AGENTWORLD_MODEL_RESEARCHER_BASE_URL", server.base_url)


def test_pages_become_an_accepted_environment(tmp_path, monkeypatch, site):
    uri, settings = f"file://{tmp_path}", Settings(research=settings_for(site))
    with ChatServer(good_script(site)) as server:
        _model(monkeypatch, server)
        mined = mine_world(uri, THEME, settings, 1, None)
        assert len(server.requests) == 9 and not mined["unfinished"]
    monkeypatch.delenv("AGENTWORLD_MODEL_RESEARCHER")
    monkeypatch.delenv("AGENTWORLD_MODEL_RESEARCHER_BASE_URL")
    row = commit(uri, THEME, mined, code_tools(uri, mined, THEME, settings))
    assert (row.state, row.reason) == ("accepted", "")
    shown = find(uri, row.env_id)
    assert shown["research"]["researcher"].startswith("openai:scripted")
    assert [r["subgraphs"] for r in shown["research"]["rounds"]] == [2, 6, 6]
    assert any(step.startswith("save_table(") and "harbours" in step for step in shown["research"]["log"])
    assert f"{site.url}/lights.csv (NOASSERTION)" in shown["sources"]

    store = open_store(uri)
    other = mine(THEME, open_corpus(), seed=1007, rounds=1, researcher=kept_researcher(store, row.env_id))
    assert {t.name for t in other.database.tables} == {t["name"] for t in shown["tables"]}
    research = read_dataset(store, "research", row.env_id)[0]
    pages = [source.sha256 for source in read_dataset(store, "sources", row.env_id) if source.uri.startswith("http")]
    assert len(pages) == 3
    garbage = collect_garbage(store)
    assert not {blob_key(sha256) for sha256 in (*pages, research.findings_sha256)} & set(garbage)


def test_a_model_that_does_not_answer_leaves_rules_and_is_asked_again(tmp_path, monkeypatch):
    theme = light_theme(name="Airport register", needs=("airports with their countries",), terms=("airport", "country"))
    with ChatServer([status(400)] * 9) as server:
        _model(monkeypatch, server)
        mined = mine_world(f"file://{tmp_path}", theme, Settings(), 1, None)
    assert mined["unfinished"]
    assert [r["gate"] for r in mined["rejections"]][0] == "model_unreachable"


def test_the_key_of_mining_holds_what_a_models_findings_depend_on(monkeypatch):
    assert research_key(Settings()) == []
    monkeypatch.setenv("AGENTWORLD_MODEL_RESEARCHER", "openai:scripted")
    keys = [
        research_key(Settings(research=ResearchSettings(**changes)))
        for changes in ({}, {"steps": 9}, {"web": True}, {"allow_hosts": ("a.example",)})
    ]
    assert len({str(key) for key in keys}) == 4 and keys[0][0].startswith("openai:scripted")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((True, None, None, None, None), "none is configured"),
        ((None, None, ["http://a.example/"], None, ["steps=many"]), "--research steps"),
        ((None, None, None, None, ["colour=red"]), "--research colour"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options, told):
    with pytest.raises(Refused, match=told):
        with_models(settings_of(research=research_of(*options)))


def test_options_of_a_researcher_with_a_model(monkeypatch):
    monkeypatch.setenv("AGENTWORLD_MODEL_RESEARCHER", "openai:scripted")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-unused")
    asked = research_of(
        True, "http://127.0.0.1:8888", ["https://a.example/"], ["127.0.0.1:8888"], ["rounds=1", "usd=0.5"]
    )
    settings = with_models(settings_of(research=asked))
    assert settings.research == ResearchSettings(
        web=True, search="http://127.0.0.1:8888", pages=("https://a.example/",), allow_hosts=("127.0.0.1:8888",),
        rounds=1, usd=0.5,
    )  # fmt: skip
