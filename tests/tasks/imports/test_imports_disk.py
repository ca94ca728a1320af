"""The private disk: whatever way foreign code opens, moves and lists its files, it finds them and only them."""

from __future__ import annotations

import json
import textwrap

import pytest

from schemas.task import Call
from tasks.environment import EnvironmentImage
from tasks.imports import ForeignTool, ForeignWorld, import_world
from tasks.imports.convert import _data, _database, _image
from tasks.imports.layout import infer_layout

ROWS = [{"row_id": f"R{n}", "name": f"Row {n}", "size": n} for n in range(1, 13)]
FILES = {"rows.json": json.dumps(ROWS).encode(), "notes/a.txt": b"one\ntwo\n", "notes/b.txt": b"three\n"}


@pytest.fixture
def run(worker):
    """Return a function that runs one tool's body once and returns (observation, changes)."""

    def call(body: str, folder: str = "disk_world", files=FILES, **arguments):
        source = "def probe(**kwargs):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
        tool = ForeignTool("probe", "probe", "Probe.", {"type": "object"}, source)
        world = ForeignWorld("agent-world", folder, folder, "", dict(files), (tool,))
        layout, _ = infer_layout(world.files, folder)
        database = _database(world, _data(world, layout), layout)
        image = _image(world, database, layout, {}, world.files)
        outcome = worker.run_episode([Call(tool="probe", arguments=arguments)], image=image)
        assert not outcome.error, outcome.error
        return outcome.steps[0].observation, outcome.changes

    return call


@pytest.mark.parametrize(
    "path",
    [
        'os.path.join(os.environ["MCP_DB_DIR"], "rows.json")',
        '"/app/database/disk_world/rows.json"',
        '"/app/database/rows.json"',
        '"database/disk_world/rows.json"',
        '"./rows.json"',
        'os.path.join(os.path.dirname(__file__), "..", "database", "rows.json")',
        'os.path.join(os.getcwd(), "rows.json")',
        'os.path.join(os.environ["MCP_DB_DIR"], "disk_world", "rows.json")',
        'pathlib.Path("/app") / "database" / "rows.json"',
        '(b"/app/database/rows.json")',
    ],
)
def test_every_style_of_path_leads_to_the_file(run, path):
    seen, changes = run(f"import json, os, pathlib\nreturn {{'n': len(json.load(open({path})))}}")
    assert seen == {"n": 12} and not changes


@pytest.mark.parametrize(
    "save",
    [
        'open(p, "w").write(text)',
        'pathlib.Path(p).write_text(text)',
        'open(p, "wb").write(text.encode())',
        'os.replace(_atomic(p, text), p)',
        'shutil.move(_named(p, text), p)',
        'shutil.copyfile(_named(p, text), p)',
        '_locked(p, text)',
        '_by_descriptor(p, text)',
    ],
)  # fmt: skip
def test_every_way_of_saving_changes_the_row(run, save):
    body = f"""
    import fcntl, json, os, pathlib, shutil, tempfile

    def _atomic(p, text):
        with open(p + ".tmp", "w") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        return p + ".tmp"

    def _named(p, text):
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(p), delete=False, suffix=".json") as handle:
            json.dump(json.loads(text), handle)
        return handle.name

    def _locked(p, text):
        with open(p, "r+") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            handle.seek(0)
            handle.write(text)
            handle.truncate()
            fcntl.flock(handle, fcntl.LOCK_UN)

    def _by_descriptor(p, text):
        number = os.open(p, os.O_WRONLY | os.O_TRUNC)
        os.write(number, text.encode())
        os.close(number)

    p = "/app/database/rows.json"
    rows = json.load(open(p))
    rows[2]["size"] = 99
    text = json.dumps(rows)
    {save}
    for name in list(os.listdir(os.path.dirname(p))):
        if name.endswith((".tmp", ".json")) and name != "rows.json":
            os.remove(os.path.join(os.path.dirname(p), name))
    return {{"size": json.load(open(p))[2]["size"]}}
    """
    seen, changes = run(body)
    assert seen == {"size": 99}, seen
    ((table, key, before, after),) = [(c.table, c.key, c.before["size"], c.after["size"]) for c in changes]
    assert (table, key, before, after) == ("rows", "R3", 3, 99)


def test_listing_globbing_and_walking(run):
    body = """
    import glob, os, pathlib
    root = os.environ["MCP_DB_DIR"]
    os.makedirs(os.path.join(root, "out", "deep"), exist_ok=True)
    (pathlib.Path(root) / "out" / "deep" / "c.txt").write_text("four")
    return {
        "listed": sorted(os.listdir(root)),
        "globbed": sorted(os.path.relpath(p, root) for p in glob.glob(root + "/**/*.txt", recursive=True)),
        "pathlib": sorted(p.name for p in pathlib.Path(root).rglob("*.txt")),
        "walked": [sorted(names) for _, _, names in os.walk(root) if names],
        "there": [os.path.exists(root + "/rows.json"), os.path.isdir(root + "/notes"), os.path.isfile(root + "/no")],
        "size": os.path.getsize(root + "/notes/a.txt"),
        "lines": sum(1 for _ in open(root + "/notes/a.txt")),
    }
    """
    seen, changes = run(body)
    assert seen["listed"] == ["notes", "out", "rows.json"] and seen["size"] == 8 and seen["lines"] == 2
    assert seen["globbed"] == ["notes/a.txt", "notes/b.txt", "out/deep/c.txt"]
    assert seen["pathlib"] == ["a.txt", "b.txt", "c.txt"] and seen["there"] == [True, True, False]
    assert seen["walked"] == [["rows.json"], ["a.txt", "b.txt"], ["c.txt"]]
    assert [(c.table, c.operation, c.key) for c in changes] == [("documents", "insert", "out/deep/c.txt")]


def test_what_is_not_there_fails_as_it_should(run):
    body = """
    import os
    found = {}
    for name, act in {
        "missing": lambda: open("/app/database/none.json"),
        "folder": lambda: open("/app/database/notes"),
        "write": lambda: open("/app/database/rows.json").write("x"),
        "nowhere": lambda: open("/app/database/no/such.json", "w"),
        "system": lambda: open("/etc/passwd"),
        "outside": lambda: open("/usr/new.txt", "w"),
        "remove": lambda: os.remove("/app/database/none.json"),
    }.items():
        try:
            act()
            found[name] = "went"
        except Exception as error:
            found[name] = type(error).__name__
    return found
    """
    seen, changes = run(body)
    assert seen == {
        "missing": "FileNotFoundError", "folder": "IsADirectoryError", "write": "UnsupportedOperation",
        "nowhere": "FileNotFoundError", "system": "FileNotFoundError", "outside": seen["outside"],
        "remove": "FileNotFoundError",
    }  # fmt: skip
    assert seen["outside"] in ("PermissionError", "OSError", "BlockingIOError") and not changes


def test_a_file_that_loses_its_form_is_told_as_a_document(run):
    seen, changes = run('open("/app/database/rows.json", "w").write("{torn"); return {"done": True}')
    kinds = {(c.table, c.operation) for c in changes}
    assert kinds == {("rows", "delete"), ("documents", "insert")} and len(changes) == 13


def test_new_fields_rows_and_order(run):
    body = """
    import json
    rows = json.load(open("rows.json"))
    rows.reverse()
    rows[0]["colour"] = {"name": "red"}
    rows.append({"row_id": "R99", "name": "New", "size": 0})
    json.dump(rows, open("rows.json", "w"), indent=4)
    return {"done": True}
    """
    _, changes = run(body)
    told = {(c.operation, c.key, (c.after or {}).get("more_fields")) for c in changes}
    assert told == {("update", "R12", '{"colour":{"name":"red"}}'), ("insert", "R99", None)}


def test_what_json_cannot_hold_is_one_clear_refusal(run):
    seen, changes = run('open("rows.json", "w").write("[]"); return {"value": object()}')
    assert seen["error"]["code"] == "TOOL_CRASHED" and "JSON" in seen["error"]["message"] and not changes


@pytest.mark.parametrize(
    ("source", "function"),
    [
        ("def run(args):\n    return {'n': args['size']}\n", "one object"),
        ("async def probe(size=None, **kwargs):\n    return {'n': size}\n", "coroutine"),
        ("class Probe:\n    def execute(self, size):\n        return {'n': size}\n", "class"),
        ("class Probe:\n    def __init__(self, folder):\n        self.folder = folder\n"
         "    def probe(self, size):\n        assert self.folder\n        return {'n': size}\n", "class with folder"),
        ("def _help(x):\n    return x\n\ndef entry(size):\n    return {'n': _help(size)}\n", "root of the calls"),
        ("import json\ndef proBe(size):\n    return json.dumps({'n': size})\n", "text and case"),
    ],
)  # fmt: skip
def test_the_entry_is_found_by_the_syntax_tree(worker, source, function):
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    tool = ForeignTool("probe", "probe", "Probe.", schema, source)
    world = ForeignWorld("agent-world", "disk_world", "disk", "", FILES, (tool,))
    layout, _ = infer_layout(world.files, "disk_world")
    image = _image(world, _database(world, _data(world, layout), layout), layout, {}, world.files)
    outcome = worker.run_episode([Call(tool="probe", arguments={"size": 5})], image=image)
    assert outcome.steps[0].observation == {"n": 5}


def test_a_world_whose_tools_never_end_or_flood_is_imported_without_them(worker):
    sources = {
        "get_row": "def get_row(row_id, **k):\n    import json\n    for r in json.load(open('rows.json')):\n"
        "        if r['row_id'] == row_id:\n            return r\n"
        "    return {'error': {'code': 'NOT_FOUND', 'message': '?'}}\n",
        "list_rows": "def list_rows(**k):\n    import json\n    return {'rows': json.load(open('rows.json'))}\n",
        "count_rows": "def count_rows(**k):\n    import json\n"
        "    return {'count': len(json.load(open('rows.json')))}\n",
        "get_flood": "def get_flood(row_id, **k):\n    return {'text': 'x' * 5_000_000}\n",
        "get_gone": "def get_gone(row_id, **k):\n    import os\n    os._exit(3)\n",
    }
    properties = {"row_id": {"type": "string"}}
    tools = tuple(
        ForeignTool(name, name, f"The tool {name}.", {
            "type": "object", "properties": properties if "row_id" in source else {},
            "required": ["row_id"] if "(row_id" in source else [],
        }, source)
        for name, source in sources.items()
    )  # fmt: skip
    done = import_world(ForeignWorld("agent-world", "rough", "rough", "", FILES, tools), worker)
    assert {tool.name for tool in done.tools} == {"get_row", "list_rows", "count_rows"}
    assert {r.key: r.gate for r in done.rejections} == {"get_flood": "always_fails", "get_gone": "always_fails"}
    image = EnvironmentImage.of(done.database, done.tools, done.snapshot)
    assert worker.run_episode([Call(tool="get_row", arguments={"row_id": "R1"})], image=image).steps
