"""The cap on money, kept by all processes that share a store, and where prices come from."""

from __future__ import annotations

import threading

import pytest
from chat_server import ChatServer, hang, say, status
from langchain_core.messages import HumanMessage
from models_example import gateway_for

from schemas.models import ModelChoice
from tasks.models import ModelError, Prompt, spent
from tasks.models.prices import price_of
from tasks.models.spending import Spending
from tasks.store import LocalStore, read_dataset

PROMPT = Prompt("test/hello", "Say hello.", "0" * 64)


def ask(gateway, text: str):
    return gateway.chat("coder", [HumanMessage(text)], prompt=PROMPT)


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "store")


def test_the_cap_stops_before_it_would_be_passed(store):
    """A call may cost 0.002 and a little; it costs 0.001. So with 0.005 three fit: 0.003 + 0.002 would pass it."""
    with ChatServer(lambda body: say("hi", usage=(0, 500))) as server:
        for number in range(3):
            ask(gateway_for(server, store, max_cost_usd=0.005), f"question {number}")
        with pytest.raises(ModelError) as caught:
            ask(gateway_for(server, store, max_cost_usd=0.005), "one too many")
        assert caught.value.gate == "model_cost"
        assert "0.0030 are paid" in caught.value.reason
        assert len(server.requests) == 3
        ask(gateway_for(server, store, max_cost_usd=0.005), "question 0")
        ask(gateway_for(server, store, max_cost_usd=0.02), "one too many")
    assert spent(store) == (0.004, 0, 0)
    assert sum(row.price_usd for row in read_dataset(store, "model_calls") if not row.cached) == 0.004


def test_many_at_once_do_not_pass_the_cap(store):
    """Ten threads with a gateway each, a cap for three worst cases at a time and for four calls in all."""
    ends: list[str] = []
    with ChatServer(lambda body: say("hi", usage=(0, 1000))) as server:

        def work(number: int) -> None:
            try:
                ask(gateway_for(server, store, max_cost_usd=0.009), f"question {number}")
                ends.append("paid")
            except ModelError as error:
                ends.append(error.gate)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert spent(store).paid <= 0.009
    assert ends.count("paid") == len(server.requests) == 4
    assert ends.count("model_cost") == 6


def test_a_failed_call_is_given_back(store):
    with ChatServer([status(400)]) as server, pytest.raises(ModelError):
        ask(gateway_for(server, store, max_cost_usd=1.0), "hello")
    assert spent(store) == (0, 0, 0)


def test_what_a_dead_process_held_stays_held(store):
    dead = Spending(store, 1.0).bill(0.75, 0.0, "m")
    dead.__enter__()
    with pytest.raises(ModelError, match="0.7500 held by other calls"), Spending(store, 1.0).bill(0.5, 0.0, "m"):
        pass
    with Spending(store, 1.0).bill(0.25, 0.0, "m") as bill:
        bill.settle(0.1)
    assert spent(store).paid == 0.1


def test_a_cap_without_a_price_is_refused(store):
    with ChatServer([]) as server, pytest.raises(ModelError) as caught:
        gateway = gateway_for(server, store, max_cost_usd=1.0, input_usd_per_million=None, output_usd_per_million=None)
        ask(gateway, "hello")
    assert caught.value.gate == "model_cost"
    assert "give input_usd_per_million" in caught.value.reason
    assert not server.requests


def test_without_a_cap_a_call_is_not_held(store):
    with ChatServer([hang(), say("hi", usage=(0, 500))]) as server:
        ask(gateway_for(server, store, timeout_seconds=0.2), "hello")
    assert spent(store).held == 0


@pytest.mark.parametrize(
    ("settings", "usd", "source"),
    [
        ({"model": "openai:gpt-4o"}, 12.5, "genai-prices"),
        ({"model": "openai:gpt-4o", "base_url": "https://api.openai.com/v1"}, 12.5, "genai-prices"),
        ({"model": "openai:gpt-4o", "base_url": "http://127.0.0.1:1/v1"}, None, "unknown"),
        ({"model": "openai:no-such-model"}, None, "unknown"),
        ({"model": "nobody:x"}, None, "unknown"),
        ({"model": "openai:gpt-4o", "input_usd_per_million": 1, "output_usd_per_million": 2}, 3.0, "roles file"),
    ],
)
def test_prices_are_dated_overridable_or_unknown(settings, usd, source):
    found = price_of(ModelChoice.model_validate(settings), 1_000_000, 1_000_000)
    assert found.usd == usd
    assert found.source.startswith(source)
