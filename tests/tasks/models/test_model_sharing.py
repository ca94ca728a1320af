"""What processes share through a store: claims and the cap, on a folder and on an S3 service over loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from chat_server import ChatServer, say
from moto.server import ThreadedMotoServer

from tasks.models import spent
from tasks.models.answers import FOLDER, Answers
from tasks.store import Store, open_store, read_dataset

ROOT = Path(__file__).resolve().parents[3]

ASKS = """
import sys
sys.path[:0] = sys.argv[4:]
from models_example import gateway_for
from langchain_core.messages import HumanMessage
from tasks.models import ModelError, Prompt
from tasks.store import open_store
class Server: base_url = sys.argv[2]
gateway = gateway_for(Server(), open_store(sys.argv[1]), max_cost_usd=float(sys.argv[3]))
for number in range(6):
    try:
        gateway.chat("coder", [HumanMessage(f"question {number}")], prompt=Prompt("test/hello", "", "0" * 64))
        print("answered")
    except ModelError as error:
        print(error.gate)
"""


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture(params=["file", "s3"])
def store(request, tmp_path, monkeypatch, s3_endpoint) -> Store:
    if request.param == "file":
        return open_store(str(tmp_path / "store"))
    for name, value in {"ENDPOINT_URL": s3_endpoint, "ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test",
                        "DEFAULT_REGION": "us-east-1"}.items():  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)
    boto3.client("s3").create_bucket(Bucket="models")
    return open_store("s3://models/prefix")


def test_processes_that_share_a_store_pay_each_request_once_and_keep_one_cap(store):
    """Two processes ask the same six questions with money for four: each is answered to all or to none."""
    with ChatServer(lambda body: say("hi", usage=(0, 1000))) as server:
        words = [store.uri, server.base_url, "0.009", str(ROOT), str(ROOT / "tests")]
        running = [
            subprocess.Popen([sys.executable, "-c", ASKS, *words], stdout=subprocess.PIPE, text=True) for _ in range(2)
        ]
        said = [process.communicate(timeout=120)[0].split() for process in running]
    assert [ends.count("answered") for ends in said] == [4, 4], said
    assert {end for ends in said for end in ends} == {"answered", "model_cost"}
    assert len(server.requests) == 4
    assert spent(store) == (0.008, 0, 0)
    assert len([row for row in read_dataset(store, "model_calls") if not row.cached]) == 4
    assert not list(store.list(f"{FOLDER}/claims/"))


def test_a_claim_of_another_machine_holds_until_its_time_is_over(store):
    claim = {"holder": "x", "host": "elsewhere", "pid": 1, "began": 0.0, "until": time.time() + 60}
    store.put(f"{FOLDER}/claims/abc/000000", json.dumps(claim).encode())
    answers, found = Answers(store), threading.Event()

    class Bought(Exception):
        pass

    def buy():
        found.set()
        raise Bought

    def ask() -> None:
        with pytest.raises(Bought):
            answers.obtain("abc", buy)

    waiting = threading.Thread(target=ask)
    waiting.start()
    assert not found.wait(0.2)
    store.put(f"{FOLDER}/claims/abc/000000", json.dumps({**claim, "until": time.time() - 1}).encode())
    waiting.join(30)
    assert found.is_set()
    assert not list(store.list(f"{FOLDER}/claims/"))


def test_nothing_of_langchain_is_imported_before_a_model_is_called(tmp_path):
    code = (
        "import sys; import tasks.models, flows.models; from schemas.settings import DEFAULTS\n"
        "assert flows.models.gateway(sys.argv[1], DEFAULTS).model_id('coder') == 'rules'\n"
        "heavy = ('langchain', 'langchain_core', 'langgraph', 'openai', 'genai_prices', 'prefect')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.stdout.strip() == "[]", done.stderr
