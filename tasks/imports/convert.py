"""Turn a foreign world into a native environment: schema, snapshot, tools with what they were found to do, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from schemas.base import content_hash
from schemas.database import Action, Database, Table
from tasks.environment import EnvironmentImage, build_file_snapshot, file_documents, file_rows
from tasks.environment.runtime.files.engine import CODE, FILES, LAYOUT
from tasks.environment.runtime.files.rows import NotRead, parse
from tasks.imports.benchmarks import benchmark_of, field_names
from tasks.imports.carried import carried_modules
from tasks.imports.database import infer_tables, specs_of
from tasks.imports.faults import scalars
from tasks.imports.fixed import fixed_parameters
from tasks.imports.layout import infer_layout
from tasks.imports.native import native_tools, tests_of
from tasks.imports.origin import provenance_of, source_of
from tasks.imports.outcome import Build, Imported
from tasks.imports.probe import Prober
from tasks.imports.questions import replay_questions
from tasks.imports.screening import deterministic, find_logs, healthy
from tasks.imports.values import Data
from tasks.imports.world import ForeignWorld
from tasks.sandbox import SandboxError, SandboxWorker

MINIMUM_TOOLS = 3
"""An imported environment with fewer tools that work is rejected."""
_START = "2026-01-01T09:00:00"
_DAY_NAMES = ("created", "updated", "opened", "ordered", "booked", "placed", "timestamp", "submitted", "date")


def start_time(tables: Sequence[Table], rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return when the frozen clock stands: the morning after the last day that the data tells of as past."""
    days: dict[bool, list[str]] = {True: [], False: []}
    for table in tables:
        for column in table.columns:
            if column.type in ("date", "datetime"):
                past = any(name in column.name.lower() for name in _DAY_NAMES)
                days[past] += [str(row[column.name])[:10] for row in rows[table.name] if row[column.name]]
    for chosen in (days[True], days[False]):
        if chosen:
            try:
                return f"{datetime.fromisoformat(max(chosen)) + timedelta(days=1):%Y-%m-%d}T09:00:00"
            except ValueError:
                continue
    return _START


def import_world(world: ForeignWorld, worker: SandboxWorker, seed: int = 7, retrieved_at: str = "") -> Imported:
    """Import one world: infer its schema, probe its tools in the sandbox, judge them, replay its questions.

    Args:
        worker: runs the foreign code.
        seed: decides which rows the probes are given.
        retrieved_at: ISO 8601 time for the source's record.
    """
    build = Build(world)
    for gate, key, reason in world.problems:
        build.reject(key, gate, reason)
        build.find(key, "missing_part", "note" if gate in ("no_questions", "missing_file") else "fatal", reason)
    if not world.files or not world.tools:
        build.reject(world.folder, "half_missing", "without files or without tools there is no environment")
        return build.ended()
    try:
        return _import(build, worker, seed, retrieved_at)
    except SandboxError as error:
        build.reject(world.folder, f"sandbox_{error.outcome}", f"the environment does not load: {error}")
        return build.ended()


def _data(world: ForeignWorld, layout: Mapping[str, Any]) -> Data:
    cells = file_rows(world.files, layout)
    tables = infer_tables(layout, cells)
    rows = {
        table.name: [dict(zip([c.name for c in table.columns], row, strict=False)) for row in cells[table.name]]
        for table in tables
    }
    stems = (path.rpartition("/")[2].rpartition(".")[0] for path in world.files if not layout_has(layout, path))
    return Data(tables, rows, start_time(tables, rows), tuple(sorted({stem for stem in stems if stem})))


def _database(world: ForeignWorld, data: Data, layout: Mapping[str, Any], actions: Sequence[Action] = ()) -> Database:
    return Database(
        env_id=world.env_id,
        theme_id=world.env_id,
        name=world.name,
        description=world.description,
        tables=data.tables,
        documents=tuple(document for document, _ in file_documents(world.files, layout)),
        actions=tuple(actions),
        start_time=data.start_time,
        snapshot_sha256="",
        files=True,
    )


def _image(
    world: ForeignWorld, database: Database, layout: Mapping[str, Any], packages: Mapping[str, str],
    files: Mapping[str, bytes],
) -> EnvironmentImage:  # fmt: skip
    """Return an image to probe with: every tool may write, whatever it will be found to do."""
    return EnvironmentImage(
        env_id=world.env_id,
        snapshot=build_file_snapshot(database, files, world.code, layout, packages),
        tools={tool.name: tool.source for tool in world.tools},
        schemas={tool.name: tool.parameters for tool in world.tools},
        log_tables=(FILES, CODE, LAYOUT),
        start_time=database.start_time,
    )


def _import(build: Build, worker: SandboxWorker, seed: int, retrieved_at: str) -> Imported:
    world = build.world
    names = {tool.name: tool.original for tool in world.tools}
    packages = carried_modules([t.source for t in world.tools] + list(world.code.values()), world.files)
    layout, unreadable = infer_layout(world.files, world.folder, names=names)
    for path, reason in unreadable:
        build.find(path, "unreadable_file", "note", f"it is kept as a text: {reason}")
    data = _data(world, layout)
    if not any(data.rows.values()):
        build.reject(world.folder, "no_tables", "no file holds records")
        return build.ended()
    image = _image(world, _database(world, data, layout), layout, packages, world.files)
    prober = Prober(image, data, worker, seed)
    fixed = fixed_parameters(world.tools, data, prober) if world.origin != "tau2" else {}  # a benchmark stays whole
    if fixed:
        world = build.fix(fixed)
        layout["fixed"] = fixed
        image = _image(world, _database(world, data, layout), layout, packages, world.files)
        prober = Prober(image, data, worker, seed)
    probes = {tool.name: prober.probe(tool) for tool in world.tools}

    logs = find_logs(build, data, layout, probes)
    if logs:
        layout, _ = infer_layout(world.files, world.folder, logs, names)
        layout["fixed"] = fixed
        data = _data(world, layout)
        image = _image(world, _database(world, data, layout), layout, packages, world.files)
        prober = Prober(image, data, worker, seed)
        probes = {tool.name: prober.probe(tool) for tool in world.tools}

    damaged = {path: b"{" if layout_has(layout, path) else raw for path, raw in world.files.items()}
    broken = Prober(_image(world, _database(world, data, layout), layout, packages, damaged), data, worker, seed)
    known = frozenset(_texts(world))
    shapes = {spec["name"]: spec["shape"] for spec in specs_of(layout)}
    kept = healthy(build, data, probes, prober, broken, known, shapes)
    kept = deterministic(build, kept, probes, image, data, seed)
    tools, actions = native_tools(build, data, kept, probes, prober)
    fields = {t.name: field_names(world, t.name, data) for t in data.tables}
    benchmark, evidence = benchmark_of(world, fields)
    if benchmark:
        build.find(world.env_id, "benchmark_copy", "note", f"it copies {benchmark}: for measuring only", **evidence)
    questions = replay_questions(build, {tool.name: tool for tool in kept}, prober, known)
    if len(tools) < MINIMUM_TOOLS:
        build.reject(world.folder, "too_few_tools", f"{len(tools)} tools work, at least {MINIMUM_TOOLS} are needed")
        return build.ended()
    layout["names"] = {tool.name: names[tool.name] for tool in tools}
    database = _database(world, data, layout, actions)
    snapshot = build_file_snapshot(database, world.files, world.code, layout, packages)
    database = database.model_copy(update={"snapshot_sha256": content_hash(snapshot)})
    source = source_of(world, retrieved_at)
    return Imported(
        world, database, snapshot, tuple(tools), tuple(tests_of(world, kept, probes)),
        tuple(provenance_of(world, data, layout, source)), (source,), tuple(build.findings), questions,
        tuple(build.rejections), benchmark, prober.calls + broken.calls,
    )  # fmt: skip


def layout_has(layout: Mapping[str, Any], path: str) -> bool:
    """Say whether a file holds tables."""
    return any(spec["path"] == path for spec in layout["files"])


def _texts(world: ForeignWorld) -> Iterator[str]:
    from tasks.imports.layout import file_format

    for path, content in world.files.items():
        try:
            yield from (str(value) for value in scalars(parse(content, file_format(path))))
        except NotRead:
            yield from content.decode(errors="replace").split()
