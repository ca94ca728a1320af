"""Rubric tasks: write a note about records that a document holds, in free text, scored item by item."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.base import content_hash
from schemas.database import Database, Table
from schemas.environment import Rejection
from schemas.task import RUBRIC, AgentTask, AnswerField, Oracle, RubricItem, Verifier
from schemas.tool import Tool
from tasks.environment import EnvironmentImage, judge
from tasks.sandbox import SandboxWorker
from tasks.synthesis.atlas import Atlas, Row, required, words
from tasks.synthesis.families.document import document_tools
from tasks.synthesis.families.kit import Kit, list_name
from tasks.synthesis.families.tables import rows_of
from tasks.synthesis.filters import is_sayable, row_columns
from tasks.synthesis.judging.texts import Note, notes_for
from tasks.synthesis.offer import offered_tools
from tasks.synthesis.prompt import Speaker
from tasks.synthesis.redteam_mutants import INJECTION
from tasks.synthesis.replay import execute

STAGE = "synthesis"
FIELD = "note"
MOST_WORDS = 60
FACTS = (2, 3, 4)

_PROMPTS = (
    'Write a note of at most {words} words for a colleague about the {noun} "{label}", listed in "{title}". '
    "It must say {facts}, as our records have it now; say nothing of other {nouns}. "
    'Reply with a JSON object whose only field is "note".',
    'A customer asks about the {noun} "{label}", known to them from "{title}". Draft an answer of no more than '
    "{words} words that tells {facts} from our own records, and mixes in no other {noun}. "
    'Your reply is JSON with the one field "note".',
    'Please summarise the {noun} "{label}" of the document called "{title}" in up to {words} words. Mention {facts}; '
    'use the figures of our records. Put the text into the field "note" of a JSON object.',
)


@dataclass(frozen=True)
class RubricResult:
    """Accepted rubric tasks, candidates that were not accepted, and texts for each task that a judge is measured on."""

    tasks: tuple[AgentTask, ...]
    rejections: tuple[Rejection, ...]
    notes: tuple[tuple[AgentTask, tuple[Note, ...]], ...] = ()


@dataclass(frozen=True)
class _Subject:
    """A record that a document lists beside another one of the same table; `columns` are what the note must tell."""

    title: str
    table: Table
    record: Row
    other: Row
    reader: Tool
    columns: tuple[str, ...]


def write_rubrics(
    database: Database,
    snapshot: bytes,
    tools: Sequence[Tool],
    *,
    seed: int,
    n: int,
    worker: SandboxWorker | None = None,
) -> RubricResult:
    """Return up to `n` rubric tasks of an environment with documents; each holds against the texts of `_attacks`.

    The oracle is a script that reads document and record and writes a plain note. Required are the record's own values
    and the length; forbidden are the values of another record of the same document where they differ.

    Raises:
        ValueError: if the snapshot cannot be read.
        SandboxError: if the environment cannot be loaded.
    """
    if worker is None:
        with SandboxWorker() as own:
            return write_rubrics(database, snapshot, tools, seed=seed, n=n, worker=own)
    atlas = Atlas(database, snapshot, list(tools))
    worker.load(EnvironmentImage.of(database, list(tools), snapshot))
    rng = random.Random(f"{database.env_id}/rubric/{seed}")
    kit = Kit(atlas, rng, Speaker(atlas, rng))
    made: list[AgentTask] = []
    rejections: list[Rejection] = []
    notes: list[tuple[AgentTask, tuple[Note, ...]]] = []
    for subject in _subjects(kit):
        if len(made) >= n:
            break
        task = _task(kit, subject, seed)
        run = execute(worker, task.oracle)
        gate, reason = "executes", run.error
        if not run.error and not judge(task, run.answer, run.changes).success:
            gate, reason = "oracle_reward", "the oracle's own note does not hold against the rubric"
        attacks = _attacks(kit, subject, task)
        through = [name for name, text in attacks if judge(task, {FIELD: text}, ()).success]
        if not reason and through:
            gate, reason = "red_team", f"full reward for: {', '.join(through)}"
        if reason:
            rejections.append(
                Rejection(stage=STAGE, key=task.task_id, gate=gate, reason=reason, env_id=database.env_id)
            )
        else:
            offered = offered_tools(task.oracle, run.steps, tuple(atlas.tools), random.Random(task.task_id))
            measured = {
                "tools": offered, "oracle_calls": len(run.steps), "expected_answer": dict(run.answer or {}),
                "kill_rate": 1.0, "mutants": len(attacks), "shortest_found": len(run.steps),
                "least_calls": 1, "length": len(run.steps), "difficulty": 1.0, "pass_rates": {"null": 0.0},
            }  # fmt: skip
            made.append(task.model_copy(update=measured))
            notes.append((made[-1], tuple(notes_for(task, str((run.answer or {})[FIELD]), attacks))))
    return RubricResult(tuple(made), tuple(rejections), tuple(notes))


def _subjects(kit: Kit) -> Iterator[_Subject]:
    """Yield records that a document lists by label, with another record of it, in random order."""
    atlas, rng = kit.atlas, kit.rng
    if document_tools(kit) is None:
        return
    titles = [title for _, title, _ in atlas.documents()]
    for media_type in ("text/csv", "text/html"):
        for _, title, content in atlas.documents(media_type):
            rows = rows_of(media_type, content)
            for table in atlas.database.tables if is_sayable(title) and titles.count(title) == 1 else ():
                by_text = {str(key): row for key, row in atlas.by_key[table.name].items()}
                known = [by_text[row[table.key]] for row in rows if row.get(table.key) in by_text]
                named = [row for row in known if table.label and is_sayable(row.get(table.label) or "")]
                reader = _reader(kit, table)
                if len(named) < 2 or table.label not in (rows[0] if rows else ()) or reader is None:
                    continue
                for record, other in zip(rng.sample(named, len(named)), rng.sample(named, len(named)), strict=True):
                    labels = [row[table.label] for row in named]
                    told = _telling(table, reader, record, other)
                    if labels.count(record[table.label]) == 1 and len(told) >= FACTS[0]:
                        count = min(rng.choice(FACTS), len(told))
                        yield _Subject(title, table, record, other, reader, tuple(rng.sample(told, count)))


def _reader(kit: Kit, table: Table) -> Tool | None:
    """Return a tool that shows a record: by its key, else by its label."""
    getters = [tool for tool in kit.atlas.getters[table.name] if len(required(tool)) == 1]
    found = kit.label_finder(table.name)
    return getters[0] if getters else found[0] if found is not None else None


def _telling(table: Table, reader: Tool, record: Row, other: Row) -> list[str]:
    """Return the columns whose values differ between two records and say something on their own."""
    return [
        column.name
        for column in table.columns
        if column.name in row_columns(reader) - {table.key, table.label}
        and column.type in ("string", "integer", "number")
        and not column.references
        and record.get(column.name) not in (None, "", 0)
        and record[column.name] != other.get(column.name)
        and is_sayable(record[column.name])
        and str(record[column.name]).lower() not in str(record[table.label]).lower()
    ]


def _task(kit: Kit, subject: _Subject, seed: int) -> AgentTask:
    table, record = subject.table, subject.record
    label, env_id = record[table.label], kit.atlas.database.env_id
    facts = [f"its {words(name)}" for name in subject.columns]
    prompt = kit.rng.choice(_PROMPTS).format(
        words=MOST_WORDS, noun=table.noun, nouns=table.nouns, label=label, title=subject.title,
        facts=f"{', '.join(facts[:-1])} and {facts[-1]}",
    )  # fmt: skip
    told = {str(record[name]) for name in subject.columns} | {str(label)}
    lures = [str(subject.other[name]) for name in subject.columns if subject.other.get(name) not in (None, "")]
    items = (
        RubricItem(name="names the record", kind="required", any_of=(str(label),)),
        *(
            RubricItem(name=f"tells the {words(name)}", kind="required", any_of=tuple(_ways(record[name])))
            for name in subject.columns
        ),
        RubricItem(
            name="mixes in nothing", kind="forbidden",
            any_of=tuple(lure for lure in dict.fromkeys([str(subject.other[table.label]), *lures])
                         if not any(lure.lower() in text.lower() for text in told) and len(lure) > 1),
        ),
        RubricItem(name="is short", kind="most_words", limit=MOST_WORDS),
    )  # fmt: skip
    oracle = Oracle(script=_script(kit, subject))
    return AgentTask(
        task_id="task-" + content_hash([env_id, oracle, prompt])[:16],
        env_id=env_id, kind="rubric", prompt=prompt, tools=(subject.reader.name,), oracle=oracle, oracle_calls=3,
        expected_answer={}, verifier=Verifier(answer=(AnswerField(name=FIELD, type="string"),), expected_answer={}),
        rubric=items, template="note", skills=("document", "get"), split=RUBRIC, seed=seed,
    )  # fmt: skip


def _ways(value: Any) -> list[str]:
    """Return the ways in which a value may be written."""
    if isinstance(value, float):
        return list(dict.fromkeys((str(value), f"{value:g}", f"{value:.2f}")))
    return [str(value)]


def _script(kit: Kit, subject: _Subject) -> str:
    """Return the oracle: it reads the document, gets the record, and writes one plain sentence a fact."""
    tools = document_tools(kit)
    assert tools is not None
    listing, reading = tools
    told = "; ".join(f"{words(name)}: {{record[{name!r}]}}" for name in subject.columns)
    return "\n".join(
        (
            "def solve(call):",
            f"    listed = call({listing.name!r})['documents']",
            f"    name = next(entry['name'] for entry in listed if entry['title'] == {subject.title!r})",
            f"    text = call({reading.name!r}, {required(reading)[0]}=name)['content']",
            f"    key = {subject.record[subject.table.key]!r}",
            "    assert str(key) in text",
            f"    record = {_look_up(kit, subject)}",
            f'    return {{{FIELD!r}: f"{{record[{subject.table.label!r}]}}. {told}."}}',
            "",
        )
    )


def _look_up(kit: Kit, subject: _Subject) -> str:
    """Return the expression that gets the record from the tools."""
    reader, table = subject.reader, subject.table
    if reader.kind == "get":
        return f"call({reader.name!r}, {required(reader)[0]}=key)"
    found = kit.label_finder(table.name)
    assert found is not None
    rows = f"call({reader.name!r}, {found[1].path}={subject.record[table.label]!r})[{list_name(kit.atlas, reader)!r}]"
    return f"next(row for row in {rows} if row[{table.key!r}] == key)"


def _attacks(kit: Kit, subject: _Subject, task: AgentTask) -> list[tuple[str, str]]:
    """Return texts that must not get full reward: nothing, the prompt, another record, all, each fact left out ..."""
    record, other, table = subject.record, subject.other, subject.table

    def note(row: Row, columns: Sequence[str]) -> str:
        return f"{row[table.label]}: " + ", ".join(f"{words(name)} {row.get(name)}" for name in columns)

    whole = " ".join(text for _, title, text in kit.atlas.documents() if title == subject.title)
    found = [
        ("nothing", ""), ("echo", task.prompt), ("verifier_directed", INJECTION),
        ("wrong_object", note(other, subject.columns)),
        ("answer_lists_candidates", f"{note(record, subject.columns)}; {note(other, subject.columns)}"),
        ("everything", whole), ("padded", note(record, subject.columns) + " and so on" * MOST_WORDS),
    ]  # fmt: skip
    for left_out in subject.columns:
        found.append(("dropped_fact", note(record, [name for name in subject.columns if name != left_out])))
    return found
