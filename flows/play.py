"""Solve a task by hand: a person sees what a policy sees, calls tools, answers, and gets the verdict."""

from __future__ import annotations

import json
import shlex
from typing import Any

from flows.browse import find_task
from flows.console import out
from schemas.task import AgentTask
from tasks.dialogue import ASK_USER, User, answers, rule_user
from tasks.environment import EnvironmentImage, judge, shaped_reward
from tasks.rollout import ToolSignature, first_view
from tasks.sandbox import Episode, SandboxError, SandboxWorker
from tasks.store import load_environment, open_store

HELP = """\
  TOOL name=value ...     call a tool; values are JSON, or plain text: get_order order_id=ord-1 limit=5
  tools                   list the tools        tool TOOL   show one tool's parameters
  answer name=value ...   answer and see the verdict
  task                    show the task again   quit        leave without an answer
  help                    show this"""


def parse(words: list[str]) -> dict[str, Any]:
    """Return name=value words as arguments; a value that is no JSON is text.

    Raises:
        ValueError: for a word without '='.
    """
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word!r} is not name=value")
        try:
            arguments[name] = json.loads(text)
        except json.JSONDecodeError:
            arguments[name] = text
    return arguments


def _task_text(task: AgentTask) -> str:
    fields = ", ".join(f"{field.name} ({field.type})" for field in task.verifier.answer)
    return f"\n{task.prompt}\n\nAnswer fields: {fields}\n"


def play(store: str, identifier: str, seed: int = 0) -> bool | None:
    """Run a session on standard input and return whether the task was solved; None if the person chose to leave.

    Raises:
        StoreError, Refused: if the task or its environment cannot be loaded.
    """
    task = find_task(store, identifier)
    world = load_environment(open_store(store), task.env_id)
    signatures = [ToolSignature.of(tool) for tool in world.tools]
    tools = {tool.name: tool for tool in first_view(task, signatures).tools}
    user = rule_user(task, seed)
    out.print(_task_text(task), markup=False)
    out.print(HELP, markup=False)
    with SandboxWorker() as worker:
        worker.load(EnvironmentImage.of(world.database, world.tools, world.snapshot))
        with worker.episode(seed=seed) as episode:
            calls = 0
            while True:
                try:
                    words = shlex.split(input("> "))
                except EOFError:
                    return False
                except ValueError as error:
                    out.print(f"cannot read that: {error}", markup=False)
                    continue
                if not words:
                    continue
                command, *rest = words
                if command == "quit":
                    return None
                if command == "help":
                    out.print(HELP, markup=False)
                    continue
                if command == "task":
                    out.print(_task_text(task), markup=False)
                elif command == "tools":
                    for tool in tools.values():
                        out.print(f"  {tool.name}: {tool.description}", markup=False)
                elif command == "tool" and rest and rest[0] in tools:
                    out.print_json(data=tools[rest[0]].parameters)
                elif command == "answer":
                    verdict = _judge(task, episode, rest, calls)
                    if verdict is not None:
                        return verdict
                elif command in tools:
                    calls += _call(episode, command, rest, user)
                else:
                    out.print(f"no tool or command {command!r}\n{HELP}", markup=False)


def _call(episode: Episode, tool: str, words: list[str], user: User | None) -> int:
    try:
        if tool == ASK_USER and user is not None:
            out.print_json(data=answers(user)(parse(words)))
        else:
            out.print_json(data=episode.call(tool, parse(words)))
        return 1
    except (ValueError, SandboxError) as error:
        out.print(str(error), markup=False)
        return 0


def _judge(task: AgentTask, episode: Episode, words: list[str], calls: int) -> bool | None:
    try:
        answer = parse(words)
    except ValueError as error:
        out.print(str(error), markup=False)
        return None
    verdict = judge(task, answer, episode.changes())
    reward = shaped_reward(verdict, calls, task.oracle_calls)
    for name, held in verdict.checks.items():
        out.print(f"  {'pass' if held else 'FAIL'}  {name}", markup=False)
    out.print(f"{'solved' if verdict.success else 'not solved'}: reward {reward:.3f}, {calls} calls", markup=False)
    return verdict.success
