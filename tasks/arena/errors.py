"""The error type of a failed episode: exactly one, by a fixed order of questions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from schemas.episode import ErrorType, Trajectory
from schemas.task import AgentTask, AnswerField, Change
from tasks.arena.alignment import align

_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list,
}  # fmt: skip


def classify_error(task: AgentTask, trajectory: Trajectory, writers: Collection[str] = ()) -> ErrorType:
    """Return why an episode failed. `writers` are the names of the environment's writing tools.

    The questions run along the episode; the first that is answered by yes decides:

    1. step_limit: did it end by running out of calls, time or memory?
    2. format: is there no answer, or one that is not empty and lacks the asked fields or types?
    3. missing_state_update: were only writing tools left uncalled, and no other writing tool called in their place?
    4. wrong_tool: was a needed tool left uncalled while a tool that the oracle has no use for was called?
    5. premature_stop: was a needed tool left uncalled, or called too few times?
    6. format: is the answer, now that the calls are there, empty?
    7. wrong_argument: do the arguments of a needed call differ from the oracle's, did it never succeed, or did the
       right kind of change hit another row or other values?
    8. missing_state_update, then extra_state_update: is an expected change absent, is there one too many?
    9. wrong_aggregation: is a wrong field a count, a sum or another value computed over rows?
    10. wrong_answer: everything else; the value stood in an observation and another one was answered.

    Total and deterministic. It judges by the oracle's path, which is one of several valid ones: an episode that failed
    on another path is named by its distance to the oracle's.

    Raises:
        ValueError: if the episode succeeded or belongs to another task.
    """
    if trajectory.task_id != task.task_id:
        raise ValueError(f"episode {trajectory.episode_id} is of task {trajectory.task_id}, not {task.task_id}")
    if trajectory.success:
        raise ValueError(f"episode {trajectory.episode_id} succeeded; only failures have an error type")
    answer = trajectory.answer
    if trajectory.error and trajectory.error != "format":
        return "step_limit"
    if answer is None or (answer and not _well_formed(task, answer)):
        return "format"
    alignment = align(task, trajectory.steps)
    if alignment.missing:
        if set(alignment.missing) <= set(writers) and not set(alignment.outside) & set(writers):
            return "missing_state_update"
        return "wrong_tool" if alignment.outside else "premature_stop"
    if not _well_formed(task, answer):
        return "format"
    if alignment.misused:
        return "wrong_argument"
    return _state_error(task, trajectory) or _answer_error(task, trajectory)


def _well_formed(task: AgentTask, answer: dict[str, Any]) -> bool:
    """Say whether an answer has exactly the asked fields with their types; null is a value where null is expected."""
    if answer.keys() != {field.name for field in task.verifier.answer}:
        return False
    return all(
        _has_type(field, answer[field.name])
        or (answer[field.name] is None and task.verifier.expected_answer.get(field.name) is None)
        for field in task.verifier.answer
    )


def _has_type(field: AnswerField, value: Any) -> bool:
    """Say whether a value has the field's type; a boolean is no number."""
    return isinstance(value, _PYTHON_TYPES[field.type]) and (field.type == "boolean" or not isinstance(value, bool))


def _state_error(task: AgentTask, trajectory: Trajectory) -> ErrorType | None:
    if trajectory.checks.get("state", True):
        return None
    made = [Change.model_validate(change) for change in trajectory.changes]
    left = list(made)
    absent = []
    for expected in task.verifier.expected_changes:
        match = next((change for change in left if _same_row(expected, change)), None)
        if match is None:
            absent.append(expected)
        else:
            left.remove(match)
    kinds = {(change.table, change.operation) for change in left}
    if any((change.table, change.operation) in kinds for change in absent):
        return "wrong_argument"
    if absent:
        return "missing_state_update"
    return "extra_state_update" if left else "wrong_argument"


def _same_row(expected: Change, made: Change) -> bool:
    """Say whether two changes touch the same row; inserted rows have minted keys, so their key does not count."""
    if (expected.table, expected.operation) != (made.table, made.operation):
        return False
    return expected.operation == "insert" or expected.key == made.key


def _answer_error(task: AgentTask, trajectory: Trajectory) -> ErrorType:
    wrong = [field for field in task.verifier.answer if not trajectory.checks.get(f"answer.{field.name}", True)]
    return "wrong_aggregation" if any(_is_computed(task, field) for field in wrong) else "wrong_answer"


def _is_computed(task: AgentTask, field: AnswerField) -> bool:
    """Say whether a field's value is computed over rows rather than read from one.

    In a chain it is so if it refers to an aggregate: a `value`, `total` or `groups` of an observation. A script
    computes what it answers, except that a text or a flag may be read from the row that it found.
    """
    source = task.oracle.answer.get(field.name)
    if isinstance(source, dict) and isinstance(source.get("$ref"), str):
        leaf = source["$ref"].split(".")[1:2]
        return bool(leaf) and leaf[0].split("[")[0] in ("value", "total", "groups")
    return bool(task.oracle.script) and field.type in ("integer", "number", "array")
