"""The one door to chat models: every call is cached, counted, capped, and tried again when it is worth it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from schemas.base import canonical_json, content_hash
from schemas.models import STAGES, ModelCall, ModelChoice, Role
from tasks.models.answers import Answer, Answers
from tasks.models.endpoint import Transient, attempt, open_model, with_retries
from tasks.models.errors import ModelError
from tasks.models.ledger import Ledger
from tasks.models.prices import price_of
from tasks.models.prompts import Prompt, render
from tasks.models.replies import Reply, called, check_outcome, counted, short, stored
from tasks.models.requests import clean, most_prompt_tokens, normal_form, redact, request_hash, without_secrets
from tasks.models.roles import Roles
from tasks.models.spending import Spending
from tasks.models.structured import Faulty, parse, reads_as_refusal
from tasks.models.tools import AgentTool
from tasks.store import Store

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

T = TypeVar("T", bound=BaseModel)
Slot = Callable[[str], AbstractContextManager[None]]
"""A context in which one call of the model with that id may be under way."""

RULES = "rules"


def choice_id(choice: ModelChoice) -> str:
    """Return a model as provider:name with what shapes its answers; its address is no part of it."""
    return f"{choice.model} temperature={choice.temperature} max_tokens={choice.max_tokens}"


@contextlib.contextmanager
def no_slot(model_id: str) -> Iterator[None]:
    """Limit nothing."""
    yield


class Gateway:
    """Calls chat models for agent roles.

    The same request (model, messages, tools, parameters) is paid once, across reruns, crashes, processes and machines
    that share the store. Keys are sent in the provider's own header and nowhere else.

    Args:
        max_cost_usd: a cap on all that the store has ever spent on models, kept by every process that is given it.
        slot: limits how many calls of a model are under way.
        run_id: the run that asks, for the ledger.
    """

    def __init__(
        self,
        roles: Roles,
        store: Store,
        *,
        max_cost_usd: float | None = None,
        slot: Slot = no_slot,
        run_id: str = "",
    ) -> None:
        self._roles, self._slot, self._run_id = roles, slot, run_id
        self._answers, self._ledger = Answers(store), Ledger(store, run_id)
        self._spending = Spending(store, max_cost_usd)
        self._secrets = roles.secrets()
        self._open: dict[Role, BaseChatModel] = {}

    def has(self, role: Role) -> bool:
        """Say whether a model is configured for the role."""
        return role in self._roles.choices

    def model_id(self, role: Role) -> str:
        """Return the id of the role's model (`choice_id`), or "rules"; part of cache keys."""
        return choice_id(self._roles.choices[role]) if self.has(role) else RULES

    def exchange(
        self,
        role: Role,
        messages: Sequence[BaseMessage],
        *,
        prompt: Prompt,
        tools: Sequence[AgentTool] = (),
        env_id: str = "",
    ) -> Reply:
        """Make one call, or find it in the cache; the reply's row says whether it was answered, cut off or refused.

        Args:
            prompt: the template that the messages began with, for the ledger.
            env_id: the environment or theme that it is for.

        Raises:
            ModelError: (model_unreachable, model_cost) if there is no answer at all.
            RolesError: if the role's model cannot be opened.
        """
        from langchain_core.messages import messages_from_dict

        choice = self._roles.choices[role]
        messages = clean(messages, self._secrets)
        request = without_secrets(normal_form(choice, messages, tools), self._secrets)
        sha256 = request_hash(request)
        blank = ModelCall(
            call_id=sha256[:40], role=role, stage=STAGES[role], env_id=env_id, model=choice.model,
            template=prompt.name, template_sha256=prompt.sha256, run_id=self._run_id,
        )  # fmt: skip
        answer, bought = self._answers.obtain(sha256, lambda: self._buy(choice, messages, tools, request, blank))
        if bought:
            call = answer.call
            self._ledger.paid(call)
        else:
            call = self._ledger.found(answer.call, sha256, env_id, role, STAGES[role])
        return Reply(messages_from_dict([answer.message])[0], call)

    def chat(
        self,
        role: Role,
        messages: Sequence[BaseMessage],
        *,
        prompt: Prompt,
        tools: Sequence[AgentTool] = (),
        env_id: str = "",
    ) -> AIMessage:
        """Make one call and return the message, as `exchange`.

        Raises:
            ModelError: as `exchange`; model_refused for a refusal, model_output for an answer that was cut off.
        """
        reply = self.exchange(role, messages, prompt=prompt, tools=tools, env_id=env_id)
        check_outcome(reply)
        return reply.message

    def ask(
        self,
        role: Role,
        prompt: Prompt,
        answer: type[T],
        *,
        env_id: str = "",
        check: Callable[[T], str] | None = None,
        repairs: int = 2,
    ) -> T:
        """Return a structured answer. Its faults are sent back to the model, at most `repairs` times.

        Args:
            answer: the pydantic model that the answer must fit; its JSON Schema is part of the request.
            check: returns what is wrong with a valid answer, for the model to mend, or "".

        Raises:
            ModelError: as `chat`; model_output if no answer was as asked.
        """
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

        rules = render("common/structured", schema=canonical_json(answer.model_json_schema()))
        messages: list[BaseMessage] = [SystemMessage(rules.text), HumanMessage(prompt.text)]
        fault = ""
        for _ in range(repairs + 1):
            reply = self.exchange(role, messages, prompt=prompt, env_id=env_id)
            if reply.call.outcome == "refused":
                check_outcome(reply)
            text = reply.text or called(reply.message)
            try:
                if reply.call.outcome == "truncated":
                    raise Faulty(f"It was cut off after {reply.call.completion_tokens} tokens. Make it shorter.")
                return parse(text, answer, check)
            except Faulty as error:
                fault = str(error)
            if "{" not in text and reads_as_refusal(text):
                self._ledger.note(reply.call, "refused")
                raise ModelError("model_refused", short(text))
            if reply.call.outcome == "answered":
                self._ledger.note(reply.call, "malformed")
            messages += [AIMessage(text or "(empty)"), HumanMessage(render("common/repair", fault=fault).text)]
        raise ModelError("model_output", f"not as asked after {repairs} repairs: {short(fault)}")

    def _buy(
        self,
        choice: ModelChoice,
        messages: Sequence[BaseMessage],
        tools: Sequence[AgentTool],
        request: dict,
        blank: ModelCall,
    ) -> Answer:
        model = self._model(blank.role, choice)
        bound = model.bind_tools(request["tools"]) if tools else model
        prompt_bound = most_prompt_tokens(request)
        worst = price_of(choice, prompt_bound, choice.max_tokens)
        began = time.monotonic()

        def once() -> tuple[AIMessage, ModelCall]:
            with (
                self._slot(choice.model),
                self._spending.bill(worst.usd, choice.timeout_seconds, choice.model) as bill,
            ):
                try:
                    message = attempt(lambda: bound.invoke(messages), choice.timeout_seconds)
                except Transient as error:
                    if error.charged:
                        bill.keep()
                    raise
                call = counted(blank, choice, message, prompt_bound)
                bill.settle(call.price_usd)
                return message, call

        try:
            (message, call), attempts = with_retries(once, choice, blank.call_id)
        except ModelError as error:
            reason = redact(error.reason, self._secrets)
            seconds = round(time.monotonic() - began, 3)
            failed = content_hash([blank.call_id, self._run_id, "failed"])[:40]
            if error.gate != "model_cost":
                self._ledger.paid(blank.model_copy(update={"call_id": failed, "outcome": "failed", "seconds": seconds}))
            raise ModelError(error.gate, reason) from None
        call = call.model_copy(update={"seconds": round(time.monotonic() - began, 3), "attempts": attempts})
        return Answer(request=request, message=without_secrets(stored(message), self._secrets), call=call)

    def _model(self, role: str, choice: ModelChoice) -> BaseChatModel:
        if role not in self._open:
            self._open[role] = open_model(choice, self._roles.key(role))  # type: ignore[index, arg-type]
        return self._open[role]  # type: ignore[index]
