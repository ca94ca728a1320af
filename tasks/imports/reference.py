"""Tasks of a benchmark as tasks of its environment, verified by what their reference actions do when executed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from schemas.base import content_hash
from schemas.environment import Rejection
from schemas.imports import ImportedQuestion
from schemas.task import AgentTask, AnswerField, Oracle, Verifier
from tasks.environment import EnvironmentImage, UnresolvedReference, resolve_references, verify
from tasks.imports.outcome import Imported
from tasks.imports.world import STAGE, Question, snake
from tasks.sandbox import EpisodeOutcome, SandboxWorker

TEMPLATE = "reference_actions"
_TYPES = {str: "string", int: "integer", float: "number"}


class NotATask(Exception):
    """A benchmark's task cannot be judged here; `gate` and the message say why."""

    def __init__(self, gate: str, reason: str) -> None:
        super().__init__(reason)
        self.gate = gate


def reference_tasks(
    done: Imported, worker: SandboxWorker, seed: int = 7
) -> tuple[tuple[AgentTask, ...], tuple[Rejection, ...]]:
    """Return a benchmark's tasks that its reference actions solve here, and why the others are left out.

    The prompt is the policy and what the simulated user would say, told in full; the oracle is the reference actions;
    the verifier wants their state, and as answer what the user must be told, at the place where an action shows it
    (tau2-bench, arXiv 2506.07982, judges by database state and communicated information as well). They are for
    measuring only, and were not red-teamed.
    """
    if done.database is None:
        return (), ()
    image = EnvironmentImage.of(done.database, done.tools, done.snapshot)
    policy = "\n\n".join(
        content.decode(errors="replace").strip()
        for path, content in sorted(done.world.files.items())
        if path.endswith(".md")
    )
    asked = {question.number: question for question in done.world.questions}
    found: list[AgentTask] = []
    rejected: list[Rejection] = []
    for replayed in done.questions:
        try:
            found.append(_task(done, asked[replayed.number], replayed, policy, image, worker, seed))
        except NotATask as error:
            key = f"question {replayed.number}"
            row = Rejection(stage=STAGE, key=key, gate=error.gate, reason=str(error)[:500], env_id=done.world.env_id)
            rejected.append(row)
    return tuple(found), tuple(rejected)


def _task(
    done: Imported, question: Question, replayed: ImportedQuestion, policy: str, image: EnvironmentImage,
    worker: SandboxWorker, seed: int,
) -> AgentTask:  # fmt: skip
    if question.unfit:
        raise NotATask("not_replayable", question.unfit)
    if not question.chain:
        raise NotATask("no_actions", "it has no reference actions of the agent, so that there is nothing to execute")
    if "unknown_tool" in replayed.faults:
        raise NotATask("unknown_tool", "a reference action calls a tool that this environment does not have")
    outcome = worker.run_episode(replayed.chain, seed=seed, image=image)
    refused = next((s for s in outcome.steps if isinstance(s.observation.get("error"), dict)), None)
    if outcome.error or refused is not None:
        why = outcome.error or f"{refused.tool} answers {refused.observation['error']}"
        raise NotATask("chain_fails", f"its reference actions do not run from the initial state: {why}")
    places = [_place(text, outcome) for text in question.told]
    if missing := [text for text, place in zip(question.told, places, strict=True) if place is None]:
        raise NotATask("info_not_observed", f"no action shows what the user must be told: {missing[:3]}")
    if not outcome.changes and not places:
        raise NotATask("nothing_to_verify", "its actions change nothing and nothing is to be told")
    fields, answer = _answer([place for place in places if place is not None])
    expected = {name: _value(ref, outcome) for name, ref in answer.items()}
    verifier = Verifier(
        answer=tuple(_field(name, expected[name], text) for name, text in fields),
        expected_answer=expected,
        expected_changes=outcome.changes,
    )  # fmt: skip
    oracle = Oracle(calls=replayed.chain, answer=answer)
    again = worker.run_episode(replayed.chain, seed=seed + 1, image=image)
    if not verify(verifier, {name: _value(ref, again) for name, ref in answer.items()}, again.changes).success:
        raise NotATask("oracle_reward", "its reference actions do not get full reward in an episode of another seed")
    prompt = _prompt(policy, question.task, verifier.answer)
    kinds = {tool.name: tool.kind for tool in done.tools}
    return AgentTask(
        task_id="task-" + content_hash([done.world.env_id, oracle, prompt])[:16],
        env_id=done.world.env_id,
        kind="graph",
        prompt=prompt,
        tools=tuple(sorted(kinds)),
        oracle=oracle,
        oracle_calls=len(replayed.chain),
        length=len(replayed.chain),
        expected_answer=expected,
        verifier=verifier,
        template=TEMPLATE,
        skills=tuple(sorted({kinds[call.tool] for call in replayed.chain})),
        writes=bool(outcome.changes),
        split="test",
        seed=seed,
    )


def _prompt(policy: str, request: str, fields: Sequence[AnswerField]) -> str:
    parts = [f"Follow this policy:\n\n{policy}" if policy else "", f"What you are asked:\n\n{request}"]
    if fields:
        names = "\n".join(f"- {field.name} ({field.type}): {field.description}" for field in fields)
        parts.append(f"Answer with what the person must be told:\n\n{names}")
    return "\n\n".join(part for part in parts if part)


def _answer(places: Sequence[tuple[int, str, str]]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Return the answer's fields with what they mean, and where each stands."""
    fields: list[tuple[str, str]] = []
    answer: dict[str, Any] = {}
    for step, path, tool in dict.fromkeys(places):
        leaf = snake(path.rpartition(".")[2].partition("[")[0])
        name = next(n for n in (leaf, *(f"{leaf}_{k}" for k in range(2, 99))) if n not in answer)
        fields.append((name, f"the {leaf.replace('_', ' ')} that the {tool.replace('_', ' ')} step shows"))
        answer[name] = {"$ref": f"{step}.{path}"}
    return fields, answer


def _value(reference: Any, outcome: EpisodeOutcome) -> Any:
    try:
        return resolve_references(reference, [step.observation for step in outcome.steps])
    except UnresolvedReference:
        return None


def _field(name: str, value: Any, meaning: str) -> AnswerField:
    slack = 0.01 if isinstance(value, float) else 0.0
    return AnswerField(name=name, type=_TYPES[type(value)], description=meaning, tolerance=slack)


def _place(text: str, outcome: EpisodeOutcome) -> tuple[int, str, str] | None:
    """Return (step, path, tool) where an observation, the latest first, shows a text or a number; None if none does."""
    for number in range(len(outcome.steps) - 1, -1, -1):
        step = outcome.steps[number]
        for path, value in _leaves(step.observation):
            if _same(text, value):
                return number, path, step.tool
    return None


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{path}[{number}]")
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value


def _same(text: str, value: Any) -> bool:
    if str(value).strip().lower() == text.strip().lower():
        return True
    try:
        return abs(float(text.replace(",", "").lstrip("$")) - float(value)) < 0.005
    except ValueError:
        return False
