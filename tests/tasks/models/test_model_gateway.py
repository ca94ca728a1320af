"""One call over HTTP: paid once, tried again when it is worth it, and written down."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from chat_server import ChatServer, filtered, hang, no_json, refusal, say, status, trickle, truncated
from langchain_core.messages import HumanMessage
from models_example import KEY, gateway_for

from tasks.models import ModelError, Prompt
from tasks.store import LocalStore, read_dataset

PROMPT = Prompt("test/hello", "Say hello.", "0" * 64)
ROOT = Path(__file__).resolve().parents[3]


def ask(gateway, text: str = "hello", env_id: str = "", role: str = "coder"):
    return gateway.chat(role, [HumanMessage(text)], prompt=PROMPT, env_id=env_id)


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "store")


def test_the_same_request_is_paid_once_and_both_uses_are_written_down(store):
    with ChatServer([say("hi", usage=(1000, 500))]) as server:
        assert ask(gateway_for(server, store), env_id="a").content == "hi"
        assert ask(gateway_for(server, store), env_id="b", role="judge").content == "hi"
    assert len(server.requests) == 1
    rows = {row.cached: row for row in read_dataset(store, "model_calls")}
    paid, cached = rows[False], rows[True]
    assert (paid.role, paid.stage, paid.env_id, paid.model) == ("coder", "coding", "a", "openai:scripted")
    assert (paid.prompt_tokens, paid.completion_tokens, paid.price_usd) == (1000, 500, 0.002)
    assert (paid.price_source, paid.outcome, paid.template) == ("roles file", "answered", "test/hello")
    assert (cached.role, cached.stage, cached.env_id, cached.price_usd) == ("judge", "synthesis", "b", 0.002)


def test_another_address_of_the_same_model_finds_the_answer(store):
    with ChatServer([say("hi")]) as first, ChatServer([]) as second:
        ask(gateway_for(first, store))
        assert ask(gateway_for(second, store)).content == "hi"


def test_another_question_model_or_parameter_is_another_request(store):
    with ChatServer(lambda body: say("hi")) as server:
        ask(gateway_for(server, store))
        ask(gateway_for(server, store), "other")
        ask(gateway_for(server, store, temperature=0.7))
        ask(gateway_for(server, store, max_tokens=10))
        ask(gateway_for(server, store, model="openai:other"))
    assert len(server.requests) == 5


def test_threads_that_ask_the_same_at_once_pay_once(store):
    started = threading.Barrier(4)
    with ChatServer([say("one")]) as server:

        def work() -> None:
            gateway = gateway_for(server, store)
            started.wait()
            found.append(ask(gateway).content)

        found: list[str] = []
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["one"] * 4
    assert len(server.requests) == 1


DIES = """
import os, sys
sys.path[:0] = sys.argv[3:]
from models_example import choice_for
from langchain_core.messages import HumanMessage
from tasks.models import Gateway, Prompt, Roles
from tasks.store import LocalStore
class Server: base_url = sys.argv[2]
roles = Roles({"coder": choice_for(Server())}, {})
class Dies:
    def __enter__(self): os._exit(3)
    def __exit__(self, *_): pass
gateway = Gateway(roles, LocalStore(__import__("pathlib").Path(sys.argv[1])), slot=lambda model: Dies())
gateway.chat("coder", [HumanMessage("hello")], prompt=Prompt("test/hello", "", "0" * 64))
"""


def test_the_claim_of_a_process_that_died_stops_nobody(store):
    with ChatServer([say("hi")]) as server:
        died = subprocess.run(
            [sys.executable, "-c", DIES, str(store.root), server.base_url, str(ROOT), str(ROOT / "tests")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert died.returncode == 3, died.stderr
        assert list(store.list("model_calls/claims/"))
        assert ask(gateway_for(server, store)).content == "hi"
    assert not list(store.list("model_calls/claims/"))


def test_a_paid_row_that_a_crash_kept_from_the_ledger_is_made_good(store):
    with ChatServer([say("hi")]) as server:
        ask(gateway_for(server, store))
        for key in store.list("datasets/model_calls/"):
            store.delete(key)
        ask(gateway_for(server, store))
    assert sorted(row.cached for row in read_dataset(store, "model_calls")) == [False, True]


@pytest.mark.parametrize("failure", [status(429, retry_after=0), status(500), status(503), no_json()])
def test_a_passing_failure_is_tried_again(store, failure):
    with ChatServer([failure, failure, say("hi")]) as server:
        assert ask(gateway_for(server, store)).content == "hi"
    assert len(server.requests) == 3
    assert read_dataset(store, "model_calls")[0].attempts == 3


@pytest.mark.parametrize("endless", [hang(), trickle()])
def test_silence_ends_at_the_timeout_and_counts_at_its_worst(store, endless):
    with ChatServer([endless, say("hi", usage=(10, 10))]) as server:
        gateway = gateway_for(server, store, timeout_seconds=0.3, max_cost_usd=1.0)
        assert ask(gateway).content == "hi"
    amounts = sorted(int(key.rpartition("=")[2]) for key in store.list("model_spend/paid/"))
    assert amounts[0] == 30
    assert amounts[1] >= 2000
    assert not list(store.list("model_spend/held/"))


@pytest.mark.parametrize(
    ("reply", "tries", "told"),
    [
        (status(401), 1, "check the key's variable"),
        (status(404), 1, "check the model's name"),
        (status(429, retry_after=9999), 1, "asks to wait 9999 s"),
        (status(500), 3, "failed 3 times"),
    ],
)
def test_what_does_not_pass_ends_after_a_bounded_number_of_tries(store, reply, tries, told):
    with ChatServer(lambda body: reply) as server, pytest.raises(ModelError) as caught:
        ask(gateway_for(server, store, attempts=3))
    assert (caught.value.gate, len(server.requests)) == ("model_unreachable", tries)
    assert told in caught.value.reason
    assert [row.outcome for row in read_dataset(store, "model_calls")] == ["failed"]
    assert not list(store.list("model_calls/claims/"))


def test_an_endpoint_that_is_not_there_is_unreachable(store):
    with ChatServer([]) as server:
        gateway = gateway_for(server, store, attempts=2)
    with pytest.raises(ModelError, match="model_unreachable: openai:scripted failed 2 times"):
        ask(gateway)


@pytest.mark.parametrize(
    ("reply", "gate", "outcome"),
    [
        (refusal("I must not."), "model_refused", "refused"),
        (filtered(), "model_refused", "refused"),
        (truncated("and so on and"), "model_output", "truncated"),
    ],
)
def test_a_refusal_and_a_cut_answer_are_recognised_and_not_paid_again(store, reply, gate, outcome):
    with ChatServer([reply]) as server:
        for _ in range(2):
            with pytest.raises(ModelError) as caught:
                ask(gateway_for(server, store))
            assert caught.value.gate == gate
    assert {row.outcome for row in read_dataset(store, "model_calls")} == {outcome}


@pytest.mark.parametrize("reply", [say("hi", counted=False), say("hi", usage=(-1_000_000, 8))], ids=["none", "below 0"])
def test_tokens_that_nobody_counted_are_counted_at_most(store, reply):
    with ChatServer([reply]) as server:
        ask(gateway_for(server, store))
    row = read_dataset(store, "model_calls")[0]
    assert row.completion_tokens == 1000
    assert row.price_source == "roles file, tokens at most"


def test_a_model_without_a_known_price_says_so(store):
    with ChatServer([say("hi")]) as server:
        ask(gateway_for(server, store, input_usd_per_million=None, output_usd_per_million=None))
    row = read_dataset(store, "model_calls")[0]
    assert (row.price_usd, row.price_source) == (None, "unknown")


def test_keys_stay_in_the_authorization_header(store, caplog):
    """The whole store and all logs are searched for a planted key that a page and the provider's error repeat."""
    caplog.set_level(0)
    replies = [status(500, message=f"bad key {KEY}"), say(f"your key is {KEY}"), status(400, message=f"bad key {KEY}")]
    with ChatServer(replies) as server:
        gateway = gateway_for(server, store)
        assert ask(gateway, f"A page says: my key is {KEY}").content == "your key is [key]"
        with pytest.raises(ModelError) as caught:
            ask(gateway, "again")
    assert KEY not in str(caught.value)
    for seen in server.requests:
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in str({**seen.headers, "authorization": ""})
        assert KEY not in str(seen.body)
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert len(files) >= 4
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
        assert KEY not in path.name
    assert KEY not in str(read_dataset(store, "model_calls"))
    assert KEY not in caplog.text
    assert KEY not in repr(gateway)
    assert KEY not in str(vars(gateway)["_roles"])
