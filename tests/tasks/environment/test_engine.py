"""The engine alone: quick argument checks, modules that last, savepoints, and tools that break their word."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import shop_database, shop_rows, shop_snapshot, shop_tools

from tasks.environment import EnvironmentImage, state_hash
from tasks.environment.runtime.accept import compile_accept
from tasks.environment.runtime.engine import Engine, OutputTooLong, StateLost
from tasks.environment.runtime.modules import keeps_nothing
from tasks.environment.runtime.schema import compile_schema
from tasks.environment.runtime.text import dumps, loads

SNAPSHOT = shop_snapshot()
IMAGE = EnvironmentImage.of(shop_database(), shop_tools(), SNAPSHOT)
ORDER = shop_rows()["orders"][0]
ANY = {"type": "object"}


def engine(output_bytes: int = 10_000, readers: tuple[str, ...] = (), **tools: str) -> Engine:
    """Return an engine of tools given by their bodies."""
    sources = {
        name: "\n".join([f"def {name}(ctx) -> dict:", *(f"    {line}" for line in body.splitlines())])
        for name, body in tools.items()
    }
    header = IMAGE.header | {
        "tools": IMAGE.tools | sources,
        "schemas": IMAGE.schemas | dict.fromkeys(sources, ANY),
        "writes": [name for name in (*IMAGE.tools, *sources) if name not in readers],
    }
    made = Engine(header, SNAPSHOT, output_bytes=output_bytes, frozen=False)
    made.start(0)
    return made


WRITE = "ctx.db.execute('UPDATE products SET stock = stock + 1')"
BREAKS = {
    "no dict": ("return [1]", "TOOL_CRASHED", "list, not a dict"),
    "a set": ("return {'x': {1, 2}}", "TOOL_CRASHED", "set is not JSON serializable"),
    "bytes": ("return {'x': b'1'}", "TOOL_CRASHED", "bytes is not JSON serializable"),
    "a number that is none": ("return {'x': float('nan')}", "TOOL_CRASHED", "not JSON compliant"),
    "infinity": ("return {'x': 1e999}", "TOOL_CRASHED", "not JSON compliant"),
    "half a character": ("return {'x': '\\ud800'}", "TOOL_CRASHED", "surrogates not allowed"),
    "itself": ("x = {}\nx['x'] = x\nreturn x", "TOOL_CRASHED", "RecursionError"),
    "keys of tuples": ("return {(1, 2): 3}", "TOOL_CRASHED", "keys must be str"),
    "begins": ("ctx.db.execute('BEGIN')\nreturn {}", "TOOL_CRASHED", "not authorized"),
    "commits": ("ctx.db.execute('COMMIT')\nreturn {}", "TOOL_CRASHED", "not authorized"),
    "rolls back": ("ctx.db.execute('ROLLBACK')\nreturn {}", "TOOL_CRASHED", "not authorized"),
    "leaves a savepoint": ("ctx.db.execute('SAVEPOINT mine')\nreturn {}", "TOOL_CRASHED", "not authorized"),
    "leaves its own transaction": ("ctx.db._connection.commit()\nreturn {}", "TOOL_CRASHED", "not authorized"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_tool_that_breaks_its_word_is_one_clear_error_and_undone(name):
    body, code, message = BREAKS[name]
    made = engine(broken=f"{WRITE}\n{body}")
    error = json.loads(made.call("broken", {}))["error"]
    assert error["code"] == code and message in error["message"]
    assert state_hash(made.state()) == state_hash(SNAPSHOT)
    assert json.loads(made.call("get_order", {"order_id": ORDER["order_id"]})) == ORDER


def test_a_reader_that_writes_and_a_result_that_is_too_long_are_undone():
    made = engine(2_000, ("reads",), reads=f"{WRITE}\nreturn {{}}", long=f"{WRITE}\nreturn {{'x': 'x' * 3000}}")
    assert json.loads(made.call("reads", {}))["error"]["code"] == "READ_ONLY"
    with pytest.raises(OutputTooLong, match="long has 3008 characters"):
        made.call("long", {})
    assert state_hash(made.state()) == state_hash(SNAPSHOT)


def test_an_episode_whose_transaction_is_gone_is_lost_and_says_so():
    body = (
        f"{WRITE}\ntry:\n    ctx.db.execute('INSERT OR ROLLBACK INTO suppliers SELECT * FROM suppliers')\n"
        "except Exception:\n    pass\nreturn {}"
    )
    made = engine(wild=body)
    for attempt in (lambda: made.call("wild", {}), lambda: made.start(1)):
        with pytest.raises(StateLost, match="transaction|savepoint"):
            attempt()


def test_calls_that_failed_leave_the_earlier_ones_standing():
    made = engine(
        fails=f"{WRITE}\nreturn ctx.refuse('NO', 'no')", crashes=f"{WRITE}\n1 / 0", works=f"{WRITE}\nreturn {{}}"
    )
    made.call("works", {})
    once = state_hash(made.state())
    for name in ("fails", "crashes", "get_order", "fails"):
        made.call(name, {})
    assert state_hash(made.state()) == once != state_hash(SNAPSHOT)
    made.call("works", {})
    assert state_hash(made.state()) not in (once, state_hash(SNAPSHOT))
    made.start(1)
    assert state_hash(made.state()) == state_hash(SNAPSHOT) and not made.written


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-3, 3), st.sampled_from(["a", "b", "", 2**63, 1.5, [], {}])
)
SCALARS = st.one_of(
    st.builds(lambda t: {"type": t}, st.sampled_from(["string", "integer", "number", "boolean", "null"])),
    st.just({"type": ["string", "null"]}),
    st.builds(lambda t, low, high: {"type": t, "minimum": low, "maximum": high}, st.sampled_from(["integer", "number"]),
              st.integers(-2, 0), st.one_of(st.integers(0, 2), st.floats(0, 2))),
    st.builds(lambda e: {"type": "number", "exclusiveMinimum": e}, st.integers(-1, 1)),
    st.builds(lambda c: {"type": "string", "enum": c}, st.lists(st.sampled_from(["a", "b", 1]), max_size=2)),
    st.just({"type": "string", "minLength": 1}), st.just({}),
)  # fmt: skip
SCHEMAS = st.builds(
    lambda items, required, more: {"type": "object", "properties": items, "required": sorted(required), **more},
    st.dictionaries(st.sampled_from("xyz'\n"), SCALARS, max_size=3), st.sets(st.sampled_from("xyz"), max_size=1),
    st.sampled_from([{}, {"additionalProperties": False}]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, st.dictionaries(st.sampled_from("xyz'\nw"), VALUES, max_size=3))
def test_the_quick_check_accepts_only_what_the_whole_check_accepts(schema, arguments):
    accept, problem = compile_accept(schema), compile_schema(schema)(arguments, "arguments")
    if accept is not None:
        assert not (accept(arguments) and problem)
        known = set(arguments) <= set(schema["properties"])
        assert accept(arguments) or problem or not known, "it knows all the scalars that fit"


def test_the_tools_that_rules_write_have_a_quick_check_and_last():
    from tasks.coding import write_tools

    for tool in write_tools(shop_database(), 0):
        assert compile_accept(tool.parameters) is not None, tool.name
        assert keeps_nothing(tool.source_code), tool.name


FORGETFUL = (
    "import re\nDAY = re.compile('x')\nN: int = -1\nT = ('a', (1, None))\nS = frozenset({1})\n"
    "def f(ctx, *, a=(1, 2)):\n    'Doc.'\n    rows = {}\n    rows['a'] = 1\n    return rows"
)
REMEMBERING = (
    "SEEN = []\ndef f(ctx): SEEN.append(1)",
    "SEEN = {}\ndef f(ctx): return SEEN",
    "N = 0\ndef f(ctx):\n    global N\n    N += 1",
    "def f(ctx, *, seen=[]): return {}",
    "def f(ctx): f.n = 1",
    "import m\ndef f(ctx): m.x = 1",
    "import m\ndef f(ctx): m.x['y'].z = 1",
    "from m import x as y\ndef f(ctx): del y[0]",
    "def f(ctx): g().x = 1\ndef g(): return f",
    "def f(ctx): globals()['x'] = 1",
    "def f(ctx): setattr(f, 'x', 1)",
    "def f(ctx): return f.__dict__",
    "import functools\n@functools.cache\ndef f(ctx): return {}",
    "class C: n = 0\ndef f(ctx): C.n += 1",
    "X = open('x')",
    "if True:\n    X = 1",
    "X = Y = re.match('a', 'b')",
    "def f(ctx: return",
)


def test_modules_that_could_remember_are_made_anew():
    assert keeps_nothing(FORGETFUL)
    assert [source for source in REMEMBERING if keeps_nothing(source)] == []


def test_an_episode_does_not_see_what_another_left_in_a_module():
    source = "SEEN = []\ndef count(ctx) -> dict:\n    SEEN.append(1)\n    return {'n': len(SEEN)}\n"
    header = IMAGE.header | {"tools": {"count": source}, "schemas": {"count": ANY}}
    made = Engine(header, SNAPSHOT, output_bytes=1000, frozen=False)
    for seed in range(8):
        made.start(seed)
        assert [made.call("count", {}) for _ in range(2)] == ['{"n":1}', '{"n":2}']


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_texts_are_the_standard_ones(value):
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert loads(dumps(value)) == value


@pytest.mark.parametrize("text", ["", " ", "{} {}", "[1", "NaN", '{"x":-Infinity}', "{'x':1}", "1,"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError):
        loads(text)
