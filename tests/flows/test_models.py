"""Models as flows use them: what a run will cost, what doctor says, limits, and settings that are refused."""

from __future__ import annotations

import threading

import pytest
from audit_example import write_world
from chat_server import ChatServer

from flows.commands.options import settings_of, with_models
from flows.endpoints import model_states
from flows.errors import Refused
from flows.estimate import ASSUMED, estimate, lines
from flows.models import gateway, limit_names, model_ids, prefect_slot, slot
from schemas.models import ROLES, ModelCall
from schemas.settings import DEFAULTS
from tasks.models import no_slot
from tasks.store import environment_rows, open_store, write_dataset

KEY = "sk-planted-0123456789abcdef"
PRICED = "input_usd_per_million = 1.0\noutput_usd_per_million = 10.0\n"


@pytest.fixture
def roles_file(tmp_path, monkeypatch):
    """Return a function that writes a roles file, in a process without other models."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)

    def write(text: str) -> str:
        path = tmp_path / "models.toml"
        path.write_text(text)
        return str(path)

    return write


def local(base_url: str, role: str = "coder", more: str = PRICED) -> str:
    return f'[{role}]\nmodel = "openai:scripted"\nbase_url = "{base_url}"\napi_key_env = "SCRIPTED_KEY"\n{more}'


def test_every_role_has_an_assumption():
    assert set(ASSUMED) == set(ROLES)


def test_an_estimate_without_measured_calls_is_made_of_assumptions(tmp_path, roles_file):
    path = roles_file(local("http://127.0.0.1:9/v1") + local("http://127.0.0.1:9/v1", "judge", ""))
    found = estimate(str(tmp_path / "store"), settings_of(environments=3, models=path))
    coder, judge = found["roles"]
    assert (coder["units"], coder["calls"], coder["basis"]) == (3, 90, "assumed")
    assert coder["usd"] == pytest.approx(3 * (0.15 + 0.36))
    assert judge["usd"] is None
    assert found["unknown"] == ["openai:scripted"]
    text = "\n".join(lines(found))
    assert "1.53 USD in all, after 0.00 USD that this store has paid" in text
    assert "not counted, for want of a price: openai:scripted" in text


def test_measured_calls_count_and_what_is_answered_costs_nothing(tmp_path, roles_file, themes_of_three):
    store, path = str(tmp_path / "store"), roles_file(local("http://127.0.0.1:9/v1"))
    write_dataset(open_store(store), "themes", "all", themes_of_three)
    for number in range(4):
        write_dataset(
            open_store(store), "model_calls", f"{themes_of_three[0].theme_id}/{number}",
            [ModelCall(call_id=str(number), role="coder", model="openai:scripted", template="t",
                       template_sha256="0" * 64, env_id=themes_of_three[0].theme_id, prompt_tokens=1000,
                       completion_tokens=100, price_usd=0.002)],
        )  # fmt: skip
    row = estimate(store, settings_of(environments=0, models=path))["roles"][0]
    assert (row["units"], row["answered"], row["calls"]) == (3, 1, 8)
    assert (row["prompt_tokens"], row["usd"]) == (8000, pytest.approx(0.016))
    assert row["basis"] == "measured on 1 environments"


def test_an_estimate_counts_the_tasks_that_the_stores_environments_are_asked_for(tmp_path, roles_file):
    """One development environment gives development tasks only, whatever the other uses ask for."""
    store = open_store(str(tmp_path / "store"))
    write_world(store, "theme")
    (row,) = environment_rows(store, "accepted")
    path = roles_file(local("http://127.0.0.1:9/v1", "task_writer"))
    settings = settings_of(environments=1, models=path)
    write_dataset(store, "environments", row.env_id, [row.model_copy(update={"split": "development"})])
    assert estimate(store.uri, settings)["roles"][0]["units"] == settings.development_tasks
    write_dataset(store, "environments", row.env_id, [row.model_copy(update={"split": "held_out"})])
    assert estimate(store.uri, settings)["roles"][0]["units"] == settings.arena_tasks


@pytest.fixture
def themes_of_three():
    from report_example import themes

    return themes()[:3]


def test_doctor_names_variables_and_endpoints_but_no_key(roles_file):
    with ChatServer([]) as server:
        path = roles_file(local(server.base_url) + local(server.base_url, "tester"))
        states = model_states(path, {"SCRIPTED_KEY": KEY})
        assert [state for state, _ in states] == ["ok", "ok"]
        assert "coder = openai:scripted; SCRIPTED_KEY is set" in states[0][1]
        assert states[0][1].endswith(f"{server.base_url} answers")
        assert len(server.looked) == 1
        assert server.looked[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in str(states)
        assert "SCRIPTED_KEY is NOT set" in model_states(path, {})[0][1]
    assert "does not answer" in model_states(path, {"SCRIPTED_KEY": KEY})[0][1]
    assert model_states("", {})[0][0] == "absent"
    assert model_states("/nowhere.toml", {})[0][0] == "missing"


def test_settings_without_models_need_none(monkeypatch, tmp_path):
    monkeypatch.delenv("AGENTWORLD_MODELS", raising=False)
    assert with_models(DEFAULTS) is DEFAULTS
    assert model_ids(DEFAULTS) == {}
    assert gateway(str(tmp_path), DEFAULTS).model_id("coder") == "rules"


def test_a_model_is_known_by_what_shapes_its_answers_not_by_its_address(roles_file, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    first = model_ids(settings_of(models=roles_file(local("http://127.0.0.1:9/v1"))))
    again = model_ids(settings_of(models=roles_file(local("http://127.0.0.2:8/v1"))))
    warmer = model_ids(settings_of(models=roles_file(local("http://127.0.0.1:9/v1") + "temperature = 1.0\n")))
    assert first == again != warmer


@pytest.mark.parametrize(
    ("text", "cap", "told"),
    [
        ('coder = "openai"', None, 'write "provider:name"'),
        (local("http://127.0.0.1:9/v1"), None, "SCRIPTED_KEY, which is not set"),
        ('[coder]\nmodel = "openai:scripted"\nbase_url = "http://127.0.0.1:9/v1"', 5.0, "--max-cost cannot be kept"),
        ('[coder]\nmodel = "cohere:x"\nbase_url = "http://127.0.0.1:9/v1"', None, "pip install langchain-cohere"),
    ],
)
def test_models_that_cannot_be_used_are_refused_before_any_work(roles_file, text, cap, told):
    with pytest.raises(Refused, match=told):
        with_models(settings_of(models=roles_file(text), max_cost=cap))


def test_limits_are_asked_of_a_named_server_only(monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    assert slot() is no_slot
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    assert slot() is prefect_slot
    assert limit_names("openai:org/gpt-4o mini") == ["agentworld-models", "agentworld-model-openai-org-gpt-4o-mini"]


def test_a_limit_holds_and_one_that_nobody_made_limits_nothing(server, capfd):
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

    with prefect_slot("openai:free"), prefect_slot("openai:free"):
        pass
    with get_client(sync_client=True) as client:
        client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=limit_names("openai:one")[1], limit=1))
    inside, most = set(), []

    def work(number: int) -> None:
        with prefect_slot("openai:one"):
            inside.add(number)
            most.append(len(inside))
            both.wait(0.05)
            inside.remove(number)

    both = threading.Event()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1]
    assert "skipping acquisition" not in capfd.readouterr().err
