"""The agent loop: a model and its tools, as a LangGraph graph, within budgets."""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from pydantic import ValidationError

from schemas.base import canonical_json
from schemas.models import Role
from tasks.models.errors import ModelError
from tasks.models.gateway import Gateway
from tasks.models.prompts import Prompt, render, untrusted
from tasks.models.replies import check_outcome
from tasks.models.structured import describe
from tasks.models.tools import AgentTool

MOST_REPEATS = 4
"""The same call with the same result so many times ends the run: it goes in circles."""

LONGEST_RESULT = 20_000
"""Characters of a tool's result that the model sees."""

Ended = Literal["done", "steps", "seconds", "tokens", "usd", "failed"]


@dataclass(frozen=True)
class Budget:
    """What a run may use: calls of the model, seconds, tokens, US dollars (None: no limit but the gateway's cap).

    Answers from the cache count as when they were paid for, so that a rerun ends where the first run did.
    """

    steps: int
    seconds: float
    tokens: int
    usd: float | None = None


@dataclass
class AgentRun:
    """What an agent did. `gate` is "" or the gate of the rejection to write; `answer` its last plain text.

    `log` has an entry for each tool call {step, tool, arguments, result, error} and plain text {step, text}.
    """

    ended: Ended = "failed"
    reason: str = ""
    gate: str = ""
    answer: str = ""
    log: list[dict[str, Any]] = field(default_factory=list)
    steps: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0


class _State(TypedDict):
    messages: Annotated[list[Any], operator.add]
    over: bool


def run_agent(
    gateway: Gateway, role: Role, prompt: Prompt, tools: Sequence[AgentTool], budget: Budget, *, env_id: str = ""
) -> AgentRun:
    """Let a model work with tools until it answers in plain text, its budget ends, or it fails.

    Invented tools and bad arguments are answered with an error message. Results of tools are fenced as data. A model
    that fails is no exception here: the run says so in `ended`, `gate` and `reason`, and keeps its log.
    """
    from langchain_core.messages import HumanMessage, SystemMessage
    from langgraph.graph import END, START, StateGraph

    loop = _Loop(gateway, role, prompt, tools, budget, env_id)
    graph = StateGraph(_State)
    graph.add_node("model", loop.think)
    graph.add_node("tools", loop.act)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: END if state["over"] else "tools")
    graph.add_conditional_edges("tools", lambda state: END if state["over"] else "model")
    rules = render("common/agent", steps=budget.steps)
    start: list[Any] = [SystemMessage(rules.text), HumanMessage(prompt.text)]
    graph.compile().invoke(
        {"messages": start, "over": False}, {"recursion_limit": 2 * budget.steps + 5, "callbacks": []}
    )
    return loop.run


class _Loop:
    """The nodes of the graph and what they have used so far."""

    def __init__(
        self, gateway: Gateway, role: Role, prompt: Prompt, tools: Sequence[AgentTool], budget: Budget, env_id: str
    ) -> None:
        self.run = AgentRun()
        self._gateway, self._role, self._prompt, self._env_id = gateway, role, prompt, env_id
        self._tools = {tool.name: tool for tool in tools}
        self._budget = budget
        self._met: Counter[str] = Counter()

    def think(self, state: _State) -> dict[str, Any]:
        """Call the model once, if the budget allows."""
        if (ended := self._spent()) is not None:
            return self._end(ended, f"the budget of {ended} ended after {self.run.steps} steps", "model_budget")
        self.run.steps += 1
        try:
            reply = self._gateway.exchange(
                self._role, state["messages"], prompt=self._prompt, tools=[*self._tools.values()], env_id=self._env_id
            )
            self.run.tokens += reply.call.prompt_tokens + reply.call.completion_tokens
            self.run.usd += reply.call.price_usd or 0.0
            self.run.seconds += reply.call.seconds
            check_outcome(reply)
        except ModelError as error:
            return self._end("failed", error.reason, error.gate)
        if reply.text:
            self.run.log.append({"step": self.run.steps, "text": reply.text})
        if reply.message.tool_calls or reply.message.invalid_tool_calls:
            return {"messages": [reply.message], "over": False}
        self.run.answer = reply.text
        return {**self._end("done", ""), "messages": [reply.message]}

    def act(self, state: _State) -> dict[str, Any]:
        """Carry out the calls of the last message."""
        from langchain_core.messages import ToolMessage

        last = state["messages"][-1]
        results = []
        for call in last.tool_calls:
            began = time.monotonic()
            text, error = self._call(call["name"], call["args"])
            self.run.seconds += time.monotonic() - began
            results.append((call["id"], call["name"], call["args"], text, error))
        for broken in last.invalid_tool_calls:
            text = f"The arguments are no JSON object: {broken['args']!r:.200}. Call the tool again."
            results.append((broken["id"], broken["name"] or "", broken["args"], text, True))
        messages = []
        circling = False
        for number, name, arguments, text, error in results:
            seen = canonical_json([name, arguments, text])
            self._met[seen] += 1
            circling = circling or self._met[seen] >= MOST_REPEATS
            self.run.log.append(
                {"step": self.run.steps, "tool": name, "arguments": arguments, "result": text, "error": error}
            )
            told = text if error else untrusted(_clipped(text))
            if self._met[seen] > 1:
                told += "\nYou have made this very call before, with this result. Do something else."
            messages.append(ToolMessage(told, tool_call_id=number or "", status="error" if error else "success"))
        if circling:
            return self._end("failed", f"it made the same call {MOST_REPEATS} times", "model_output")
        if messages and self.run.steps == self._budget.steps - 1:
            messages[-1].content += "\nThis is your last step: answer now, without calling a tool."
        return {"messages": messages, "over": False}

    def _call(self, name: str, arguments: Any) -> tuple[str, bool]:
        """Return the result of a call, or the error message for the model, and which of the two it is."""
        tool = self._tools.get(name)
        if tool is None:
            return f"There is no tool {name!r:.80}. Your tools are: {', '.join(self._tools)}.", True
        try:
            return tool.call(tool.arguments.model_validate(arguments)), False
        except ValidationError as error:
            return f"The arguments of {name} do not fit:\n{describe(error)}", True
        except ValueError as error:
            return f"{name} failed: {error}", True

    def _spent(self) -> Ended | None:
        budget, run = self._budget, self.run
        if run.steps >= budget.steps:
            return "steps"
        if run.seconds >= budget.seconds:
            return "seconds"
        if run.tokens >= budget.tokens:
            return "tokens"
        return "usd" if budget.usd is not None and run.usd >= budget.usd else None

    def _end(self, ended: Ended, reason: str, gate: str = "") -> dict[str, Any]:
        self.run.ended, self.run.reason, self.run.gate = ended, reason, gate
        return {"messages": [], "over": True}


def _clipped(text: str) -> str:
    if len(text) <= LONGEST_RESULT:
        return text
    return f"{text[:LONGEST_RESULT]}\n[cut off: {len(text) - LONGEST_RESULT} more characters]"
