"""Turn a foreign world into a native environment: schema, snapshot, tools with what they were found to do, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from schemas.actions import check_actions
from schemas.base import content_hash
from schemas.database import Action, Database, Table
from schemas.environment import Rejection
from schemas.imports import Fault, ImportedQuestion, ImportFinding
from schemas.task import Change
from schemas.theme import Provenance, Source
from schemas.tool import Tool, ToolTest
from tasks.environment import EnvironmentImage, build_file_snapshot, file_documents, file_rows
from tasks.environment.runtime.files.engine import CODE, FILES, LAYOUT
from tasks.environment.runtime.files.rows import NotRead, parse
from tasks.imports.benchmarks import benchmark_of
from tasks.imports.carried import carried_modules
from tasks.imports.database import infer_tables, specs_of
from tasks.imports.faults import Judgement, judge, log_files, same_outcome, scalars, uncovered
from tasks.imports.layout import infer_layout
from tasks.imports.probe import Probe, Prober, ToolProbes
from tasks.imports.questions import replay_question
from tasks.imports.reading import infer_reading
from tasks.imports.values import Data
from tasks.imports.world import STAGE, ForeignTool, ForeignWorld
from tasks.imports.writing import infer_writing
from tasks.sandbox import SandboxError, SandboxWorker

MINIMUM_TOOLS = 3
"""An imported environment with fewer tools that work is rejected."""
_START = "2026-01-01T09:00:00"
_DAY_NAMES = ("created", "updated", "opened", "ordered", "booked", "placed", "timestamp", "submitted", "date")


@dataclass(frozen=True)
class Imported:
    """What an import made. `database` is None if the world gave no environment; `rejections` then say why."""

    world: ForeignWorld
    database: Database | None
    snapshot: bytes = field(default=b"", repr=False)
    tools: tuple[Tool, ...] = ()
    tests: tuple[ToolTest, ...] = ()
    provenance: tuple[Provenance, ...] = field(default=(), repr=False)
    sources: tuple[Source, ...] = ()
    findings: tuple[ImportFinding, ...] = ()
    questions: tuple[ImportedQuestion, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    benchmark: str = ""
    probes: int = 0

    @property
    def test_only(self) -> bool:
        """Whether it may be used to measure only: a public benchmark, or a copy of one."""
        return bool(self.benchmark) or self.world.origin == "tau2"


class _Build:
    """The state of one import."""

    def __init__(self, world: ForeignWorld) -> None:
        self.world = world
        self.env_id = world.env_id
        self.findings: list[ImportFinding] = []
        self.rejections: list[Rejection] = []

    def find(self, subject: str, fault: Fault, severity: Any, detail: str, **evidence: Any) -> None:
        """Record a fault; of several of one kind on one subject the first counts."""
        if not any(f.subject == subject and f.fault == fault for f in self.findings):
            self.findings.append(
                ImportFinding(env_id=self.env_id, subject=subject, fault=fault, severity=severity,
                              detail=detail[:600], evidence=evidence)
            )  # fmt: skip

    def reject(self, key: str, gate: str, reason: str) -> None:
        """Record what was left out."""
        self.rejections.append(Rejection(stage=STAGE, key=key, gate=gate, reason=reason[:500], env_id=self.env_id))

    def ended(self) -> Imported:
        """Return the outcome of a world that gives no environment."""
        return Imported(self.world, None, findings=tuple(self.findings), rejections=tuple(self.rejections))


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
    build = _Build(world)
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
    return Data(tables, rows, start_time(tables, rows))


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


def _import(build: _Build, worker: SandboxWorker, seed: int, retrieved_at: str) -> Imported:
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
    database = _database(world, data, layout)
    image = _image(world, database, layout, packages, world.files)
    prober = Prober(image, data, worker, seed)
    probes = {tool.name: prober.probe(tool) for tool in world.tools}

    logs = _logs(build, data, layout, probes)
    if logs:
        layout, _ = infer_layout(world.files, world.folder, logs, names)
        data = _data(world, layout)
        database = _database(world, data, layout)
        image = _image(world, database, layout, packages, world.files)
        prober = Prober(image, data, worker, seed)
        probes = {tool.name: prober.probe(tool) for tool in world.tools}

    damaged = {path: b"{" if layout_has(layout, path) else raw for path, raw in world.files.items()}
    broken = Prober(_image(world, database, layout, packages, damaged), data, worker, seed)
    known = frozenset(_texts(world))
    shapes = {spec["name"]: spec["shape"] for spec in specs_of(layout)}
    kept = _healthy(build, data, probes, prober, broken, known, shapes)
    kept = _deterministic(build, kept, probes, image, data, seed)
    tools, actions = _native_tools(build, data, kept, probes, prober)
    fields = {t.name: _field_names(world, t.name, data) for t in data.tables}
    benchmark, evidence = benchmark_of(world, fields)
    if benchmark:
        build.find(world.env_id, "benchmark_copy", "note", f"it copies {benchmark}: for measuring only", **evidence)
    questions = _questions(build, {tool.name: tool for tool in kept}, prober, known)
    if len(tools) < MINIMUM_TOOLS:
        build.reject(world.folder, "too_few_tools", f"{len(tools)} tools work, at least {MINIMUM_TOOLS} are needed")
        return build.ended()
    layout["names"] = {tool.name: names[tool.name] for tool in tools}
    database = _database(world, data, layout, actions)
    snapshot = build_file_snapshot(database, world.files, world.code, layout, packages)
    database = database.model_copy(update={"snapshot_sha256": content_hash(snapshot)})
    source = _source(world, retrieved_at)
    return Imported(
        world, database, snapshot, tuple(tools), tuple(_tests(world, kept, probes)),
        tuple(_provenance(world, data, layout, source)), (source,), tuple(build.findings), questions,
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


def _owners(layout: Mapping[str, Any]) -> dict[str, str]:
    owners = {}
    for file in layout["files"]:
        owners.update({spec["name"]: file["path"] for spec in specs_of({"files": [file]})})
    return owners


def _logs(build: _Build, data: Data, layout: Mapping[str, Any], probes: Mapping[str, ToolProbes]) -> list[str]:
    owners = _owners(layout)

    def file_of(change: Change) -> str:
        return str(change.key) if change.table == "documents" else owners.get(change.table, change.table)

    changed = {name: {file_of(c) for p in found.done for c in p.changes} for name, found in probes.items()}
    about = {table.name for tool in build.world.tools for table in data.subject(tool)[:1]}
    core = {owners[table.name] for table in data.tables if table.name in about and len(data.rows[table.name]) > 2}
    logs, written = log_files(probes, changed, core)
    for file, readers in logs.items():
        for name in readers:
            text = f"it reads and yet writes {file}: kept out of the state, and fresh in every episode"
            build.find(name, "reads_write_log", "repaired", text, file=file)
    for file, readers in written.items():
        for name in readers:
            text = f"it reads and yet writes {file}, which is data: it counts as a writing tool"
            build.find(name, "reads_write_log", "note", text, file=file)
    return list(logs)


def _healthy(
    build: _Build, data: Data, probes: Mapping[str, ToolProbes], prober: Prober, broken: Prober,
    known: frozenset[str], shapes: Mapping[str, str],
) -> list[ForeignTool]:  # fmt: skip
    kept = []
    for tool in build.world.tools:
        found = probes[tool.name]
        changes = {id(probe): probe.changes for probe in found.all}
        judgements: list[Judgement] = judge(data, found, prober, broken, known, shapes, changes)
        if build.world.origin == "tau2":  # a benchmark stays whole
            judgements = [replace(one, severity="note") for one in judgements]
        for one in judgements:
            build.find(tool.name, one.fault, one.severity, one.detail, **one.evidence)
        fatal = [one for one in judgements if one.severity == "fatal"]
        if fatal:
            build.reject(tool.name, fatal[0].fault, fatal[0].detail)
            continue
        missing = uncovered(found)
        if missing:
            text = f"no call went with: {', '.join(missing)}"
            build.find(tool.name, "uncovered_parameter", "note", text, parameters=missing)
        kept.append(tool)
    return kept


def _deterministic(
    build: _Build, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes], image: EnvironmentImage,
    data: Data, seed: int,
) -> list[ForeignTool]:  # fmt: skip
    """Leave out the tools that answer differently in a process with another hash seed and wall clock."""
    kept = []
    with SandboxWorker(hash_seed=4217, clock_skew_s=-7_776_123) as other:
        again = Prober(image, data, other, seed)
        for tool in tools:
            different = next(
                (p for p in probes[tool.name].done[:3] if not same_outcome(p, again.call(tool.name, p.arguments))), None
            )
            if different is None:
                kept.append(tool)
                continue
            text = "with another hash seed and clock the same call gives something else"
            build.find(tool.name, "not_deterministic", "fatal", text, arguments=different.arguments)
            build.reject(tool.name, "not_deterministic", text)
    return kept


def _native_tools(
    build: _Build, data: Data, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes], prober: Prober
) -> tuple[list[Tool], list[Action]]:
    found: list[Tool] = []
    actions: list[Action] = []
    for tool in tools:
        tried = probes[tool.name]
        common: dict[str, Any] = {
            "env_id": build.env_id, "name": tool.name, "parameters": tool.parameters, "source_code": tool.source,
            "description": tool.description if len(tool.description) >= 10 else f"{tool.description} ({tool.original})",
            "author": build.world.origin, "tests_passed": _tested(tried), "tests_total": _tested(tried),
            "evidence": ("probed_with_real_keys", "same_with_other_hash_seed_and_clock"),
        }  # fmt: skip
        if any(probe.changes for probe in tried.done):
            written = infer_writing(data, tried, prober)
            action = written.action
            if action is not None and _problems(build, data, [*actions, action]):
                action = None
            if action is not None:
                actions.append(action)
            described = action is not None
            found.append(
                Tool(
                    **common, kind=written.kind if described else "write", table=written.table,
                    action=action.name if action is not None else "",
                    inputs=written.inputs if described else (), outputs=written.outputs if described else (),
                    reads=written.tables, writes=written.tables,
                )
            )  # fmt: skip
        else:
            read = infer_reading(data, tried)
            found.append(
                Tool(**common, kind=read.kind, table=read.table, inputs=read.inputs, outputs=read.outputs,
                     reads=read.tables)
            )  # fmt: skip
    return found, actions


def _problems(build: _Build, data: Data, actions: Sequence[Action]) -> list[str]:
    database = Database(
        env_id=build.env_id, theme_id=build.env_id, name="", description="", tables=data.tables,
        actions=tuple(actions), start_time=data.start_time, snapshot_sha256="",
    )  # fmt: skip
    return check_actions(database)


def _tested(probes: ToolProbes) -> int:
    return len(_test_probes(probes))


def _test_probes(probes: ToolProbes) -> list[Probe]:
    return [probe for probe in probes.done if len(str(probe.observation)) < 20_000][:5]


def _tests(world: ForeignWorld, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes]) -> Iterator[ToolTest]:
    """Yield what the probes saw as tests of the tools."""
    for tool in tools:
        for number, probe in enumerate(_test_probes(probes[tool.name]), 1):
            yield ToolTest(
                env_id=world.env_id, tool=tool.name, name=f"probe_{number}", kind="normal", author="tester",
                arguments=probe.arguments, observation=probe.observation, unchanged=not probe.changes, passed=True,
            )  # fmt: skip


def _field_names(world: ForeignWorld, table: str, data: Data) -> set[str]:
    """Return the names of a table's columns and of all that stands in its records."""
    found = {column.name for column in data.table(table).columns}
    found |= {column.description.partition(".")[0] for column in data.table(table).columns if column.description}
    for other in data.tables:
        if any(column.references.partition(".")[0] == table for column in other.columns):
            found.add(other.name)
            found.add(other.name.removeprefix(f"{table.rstrip('s')}_"))
    return found


def _questions(
    build: _Build, tools: Mapping[str, ForeignTool], prober: Prober, known: frozenset[str]
) -> tuple[ImportedQuestion, ...]:
    found = []
    for question in build.world.questions:
        replayed = replay_question(build.env_id, question, tools, prober, known)
        for fault in replayed.faults:
            severity = "repaired" if replayed.recomputed_answer else "fatal"
            build.find(
                f"question {question.number}", fault, severity, _SAID[fault],
                reference=replayed.reference_answer[:400], recomputed=replayed.recomputed_answer[:400],
            )  # fmt: skip
        found.append(replayed)
    return tuple(found)


_SAID: dict[str, str] = {
    "unknown_tool": "its chain calls a tool that does not exist or does not work",
    "chain_fails": "its verified chain does not run from the initial files",
    "baked_value": "its chain holds an id or a time that a run minted: now a reference to what this run mints",
    "answer_is_last_output": "its reference answer is the last call's output only: worked out again",
    "answer_cut_short": "its reference answer is cut off: worked out again",
    "answer_contradicted": "its reference answer differs from what the data says: worked out again",
    "answer_bakes_values": "its reference answer holds ids or times of a past run: worked out again",
}


def _source(world: ForeignWorld, retrieved_at: str) -> Source:
    return Source(
        source_id=content_hash([world.uri, world.origin, world.sha256])[:16],
        uri=world.uri,
        version=world.origin,
        sha256=world.sha256,
        retrieved_at=retrieved_at,
        licence=world.licence,
        title=f"{world.name} ({world.folder})",
    )


def _provenance(world: ForeignWorld, data: Data, layout: Mapping[str, Any], source: Source) -> Iterator[Provenance]:
    owners = _owners(layout)
    for table in data.tables:
        for row in data.rows[table.name]:
            key = str(row[table.key])
            yield Provenance(env_id=world.env_id, table_name=table.name, row_key=key, source_id=source.source_id,
                             locator=f"{owners[table.name]}#{key}", transform="import")  # fmt: skip
    for document, _ in file_documents(world.files, layout):
        yield Provenance(env_id=world.env_id, table_name="documents", row_key=document.name,
                         source_id=source.source_id, locator=document.name, transform="import")  # fmt: skip
