"""What a tool or a script sends reaches the verifier's process as plain data or not at all."""

from __future__ import annotations

import json
import socket
import sqlite3
import struct
import time
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import ENV_ID, START_TIME, shop_snapshot

from schemas.base import canonical_json
from schemas.task import AnswerField, Call, Verifier
from tasks.environment import Differ, EnvironmentImage, StateError, verify
from tasks.sandbox import Limits, SandboxError, SandboxWorker
from tasks.sandbox.inner import wire
from tasks.sandbox.outcomes import make_steps, split_batch
from tasks.sandbox.untrusted import MAX_DEPTH, _is_shallow, read_json

SNAPSHOT = shop_snapshot()
NO_DATA = {
    "nothing": b"",
    "no JSON": b"{'x': 1}",
    "two values": b"{} {}",
    "not a number": b'{"x": NaN}',
    "infinity": b'{"x": -Infinity}',
    "a number beyond floats": b'{"x": 1e999}',
    "a number beyond floats, written out": b'{"x": ' + b"1" * 400 + b".0}",
    "a number beyond floats, signed exponent": b'{"x": -1E+0999}',
    "an integer of 41 digits": b'{"x": ' + b"9" * 41 + b"}",
    "an integer of a million digits": b'{"x": ' + b"9" * 1_000_000 + b"}",
    "a lone surrogate": b'{"x": "\\ud800"}',
    "a lone surrogate as a key": b'{"\\uDfff": 1}',
    "a lone surrogate in UTF-8": b'{"x": "\xed\xa0\x80"}',
    "broken UTF-8": b'{"x": "\xff"}',
    "too deep": b'{"x":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
    "far too deep": b"[" * 1_000_000 + b"]" * 1_000_000,
    "deep objects": b'{"x":' * 500 + b"1" + b"}" * 500,
    "cut short": b'{"x": [1, 2',
}


@pytest.mark.parametrize("name", NO_DATA)
def test_what_is_no_data_is_refused(name):
    with pytest.raises(ValueError):
        read_json(NO_DATA[name])


DATA = {
    "nested as deep as allowed": (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
    "many braces in a text": (json.dumps({"x": "[{" * 500}).encode(), {"x": "[{" * 500}),
    "a pair of surrogates": (b'{"x": "\\ud83d\\ude00"}', {"x": "\U0001f600"}),
    "large numbers": (b'[9223372036854775807, 1e308, -1.5e-300, "e999"]', [2**63 - 1, 1e308, -1.5e-300, "e999"]),
    "equal keys": (b'{"x": 1, "x": 2}', {"x": 2}),
    "a class name": (b'{"__class__": "os.system", "py/object": "x"}', {"__class__": "os.system", "py/object": "x"}),
    "a null character": (b'{"x": "a\\u0000b"}', {"x": "a\0b"}),
}


@pytest.mark.parametrize("name", DATA)
def test_what_is_data_is_read_as_it_is(name):
    raw, expected = DATA[name]
    value = read_json(raw)
    assert expected is None or value == expected
    assert read_json(canonical_json(value).encode()) == value, "every later stage can write and read it"


@pytest.mark.parametrize("result", [3, [1], [[None, {}], 3], [[None, []]], [["x", {}, 1]], None, {"0": 1}])
def test_steps_of_another_form_are_refused(result):
    with pytest.raises(SandboxError, match="protocol"):
        make_steps([Call(tool="a"), Call(tool="b")][: len(result) if isinstance(result, list) else 1], result)


@pytest.mark.parametrize("results", [7, [], [3], [[1, 2, 3]], [["x", -1]], [["x", "1"]], [["x", True]], [{"a": 1}]])
def test_batches_of_another_form_are_refused(results):
    with closing(Differ(SNAPSHOT)) as differ, pytest.raises(SandboxError, match="protocol"):
        split_batch([((), 0)], results, b"", differ)


ANSWERS = (
    {"n": 10**39}, {"n": -(10**39)}, {"n": 1e308}, {"n": [1] * 1000}, {"n": "1e999"}, {"n": {"n": {"n": 1}}},
    {"n": None}, {"n": True}, {}, {"n": 1, "m": 1},
)  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_verifier_judges_any_data_without_an_error(answer):
    for kind, expected in (("integer", 7), ("number", 7.5), ("array", [1, 2]), ("string", "x"), ("boolean", False)):
        verifier = Verifier(answer=(AnswerField(name="n", type=kind, unordered=True),), expected_answer={"n": expected})
        assert not verify(verifier, answer, ()).success


def forged_tree(state: bytes, table: str) -> bytes:
    """Return the state with a table whose tree uses each of its pages some 400 times, at several levels."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(state)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    size, n = connection.execute("PRAGMA page_size").fetchone()[0], len(state)
    connection.close()
    fan, pages = (size - 300) // 9, bytearray(state)
    leaf = pages[(root - 1) * size : root * size]

    def interior(child: int) -> bytes:
        cells = b"".join(struct.pack(">I", child) + b"\1" for _ in range(fan))
        start = size - len(cells)
        pointers = b"".join(struct.pack(">H", start + 5 * i) for i in range(fan))
        head = struct.pack(">BHHHBI", 5, 0, fan, start, 0, child) + pointers
        return head + bytes(start - len(head)) + cells

    number = n // size
    pages += leaf
    for level in range(3):
        pages += interior(number + 1 + level)
    pages[(root - 1) * size : root * size] = interior(number + 4)
    pages[28:32] = struct.pack(">I", len(pages) // size)
    pages[24:28] = pages[92:96] = struct.pack(">I", 77)
    return bytes(pages)


def test_a_forged_tree_of_shared_pages_is_told_at_once():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, x TEXT)")
    connection.executemany("INSERT INTO t (x) VALUES (?)", [(f"row {i}",) for i in range(20)])
    state = connection.serialize()
    bomb = forged_tree(state, "t")
    open_bomb = sqlite3.connect(":memory:")
    open_bomb.deserialize(bomb)
    looks = iter([0] * 5)
    open_bomb.set_progress_handler(lambda: next(looks, 1), 1_000_000)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        open_bomb.execute("SELECT count(x) FROM t WHERE x > ''").fetchone()
    begin = time.process_time()
    with closing(Differ(state, wary=True)) as differ:
        with pytest.raises(StateError):
            differ.changes(bomb)
        assert differ.changes(state) == ()
    assert time.process_time() - begin < 1


def image(tool: str, **more) -> EnvironmentImage:
    source = "\n".join(["def attack(ctx) -> dict:", *(f"    {line}" for line in tool.strip().splitlines())])
    tools = {"attack": source, "check": "def check(ctx) -> dict:\n    return {'now': ctx.clock.now()}\n"}
    return EnvironmentImage(ENV_ID, SNAPSHOT, tools, dict.fromkeys(tools, {"type": "object"}), (), START_TIME, **more)


def test_cells_that_json_cannot_hold_are_told():
    with SandboxWorker(Limits(wall_s=2)) as worker:
        worker.load(image("ctx.db.execute('UPDATE products SET price = 9e999')\nreturn {}"))
        with worker.episode() as episode:
            episode.call("attack", {})
            with pytest.raises(SandboxError, match="state: .*price"):
                episode.changes()
        assert worker.run_episode([Call(tool="attack")]).error == "state"
        assert worker.run_episode([Call(tool="check")]).error == ""


CLAIMS = ('["start","x"]', '["closed","x"]', '["refused","x"]', '["output"]', '["output","x","y"]', "7", '{"output":1}')


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_child_cannot_claim_what_only_the_factory_knows(claim):
    forge = (
        "import sys\nframe = sys._getframe()\nwhile 'identity' not in frame.f_locals:\n    frame = frame.f_back\n"
        "names = frame.f_locals\n"
        f"frame.f_globals['wire'].send(names['sock'], "
        f"('[\"' + names['identity'] + '\",\"fail\",{claim}]').encode())\nreturn {{}}"
    )
    with SandboxWorker(Limits(wall_s=2)) as worker:
        worker.load(image(forge))
        with worker.episode() as episode:
            with pytest.raises(SandboxError) as caught:
                episode.call("attack", {})
            assert caught.value.outcome == "protocol"


PATCH = "import json, random\nrandom.randint = lambda a, b: 7\njson.patched = True\nreturn {}"
LOOK = "def check(ctx) -> dict:\n    import json\n    return {'patched': hasattr(json, 'patched')}\n"


@pytest.mark.parametrize("foreign", [True, False])
def test_foreign_code_never_shares_a_process(foreign):
    made = image(PATCH, foreign=foreign)
    made.tools["check"] = LOOK
    calls = [([Call(tool="attack")], 0), ([Call(tool="check")], 0)]
    with SandboxWorker() as worker:
        worker.load(made)
        batch = worker.run_episodes(calls, isolation="environment")
        assert batch[1].steps[0].observation == {"patched": not foreign}
        with worker.episode(isolation="environment") as episode:
            episode.call("attack", {})
        with worker.episode(isolation="environment") as episode:
            assert episode.call("check", {}) == {"patched": not foreign}


def test_code_is_foreign_unless_someone_vouches_for_it():
    assert image("return {}").foreign
    assert image("return {}").digest != image("return {}", foreign=False).digest


PIECES = st.lists(st.sampled_from(["[", "]", "{", "}", '"', '""', '"["', '"]"', "\\", "a", ":", ","]), max_size=30)


@settings(max_examples=300, deadline=None)
@given(PIECES, st.sampled_from([0, 60, 63, 64, 65, 70]))
def test_nesting_is_never_overlooked(pieces, depth):
    text = "[" * depth + json.dumps("".join(pieces)) + "]" * depth
    for raw in (text.encode(), b'{"x":' * depth + b"1" + b"}" * depth, "".join(pieces).encode()):
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        levels, level = 0, [value]
        while level := [v for v in level if isinstance(v, dict | list)]:
            levels += 1
            level = [x for v in level for x in (v.values() if isinstance(v, dict) else v)]
        assert not (_is_shallow(raw) and levels > MAX_DEPTH)


def test_any_patience_can_be_set():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for seconds in (1e-9, 0.0005, 0.4, 0.9999990859996615, 0.9999999999, 1.0, 4.9999999, 30):
            wire.set_patience(ours, seconds)
