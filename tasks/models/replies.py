"""What came back from a model: whether it answered, what it counted, and how the message is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.base import canonical_json
from schemas.models import ModelCall, ModelChoice, Outcome
from tasks.models.errors import ModelError
from tasks.models.prices import UNKNOWN, price_of

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_CUT = {"length", "max_tokens", "MAX_TOKENS", "model_length"}
_DECLINED = {"content_filter", "refusal", "safety", "SAFETY", "PROHIBITED_CONTENT", "guardrail_intervened"}


@dataclass(frozen=True)
class Reply:
    """A model's message and the row of the call in the ledger."""

    message: AIMessage
    call: ModelCall

    @property
    def text(self) -> str:
        """The message's text; blocks of other kinds are left out."""
        content = self.message.content
        if isinstance(content, str):
            return content
        return "".join(part if isinstance(part, str) else part.get("text", "") for part in content)


def check_outcome(reply: Reply) -> None:
    """Raise ModelError for a reply that is a refusal (model_refused) or was cut off (model_output)."""
    if reply.call.outcome == "refused":
        raise ModelError("model_refused", short(_refusal(reply.message) or reply.text) or "it declined to answer")
    if reply.call.outcome == "truncated":
        raise ModelError("model_output", f"cut off after {reply.call.completion_tokens} tokens (max_tokens)")


def _refusal(message: AIMessage) -> str:
    return str(message.additional_kwargs.get("refusal") or "")


def _outcome(message: AIMessage) -> Outcome:
    said = message.response_metadata
    reason = str(said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason") or "")
    if _refusal(message) or reason in _DECLINED:
        return "refused"
    return "truncated" if reason in _CUT else "answered"


def counted(blank: ModelCall, choice: ModelChoice, message: AIMessage, prompt_bound: int) -> ModelCall:
    """Return the row of a call with the tokens that the provider counted; where it counts none, or less than none, the
    upper bound."""
    usage = message.usage_metadata
    if usage is not None and min(usage["input_tokens"], usage["output_tokens"]) < 0:
        usage = None
    if usage is None:
        prompt_tokens, completion_tokens, read = prompt_bound, choice.max_tokens, 0
    else:
        prompt_tokens, completion_tokens = usage["input_tokens"], usage["output_tokens"]
        read = min(max(usage.get("input_token_details", {}).get("cache_read", 0), 0), prompt_tokens)
    price = price_of(choice, prompt_tokens, completion_tokens, read)
    source = price.source if usage is not None or price.source == UNKNOWN else f"{price.source}, tokens at most"
    return blank.model_copy(
        update={
            "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
            "price_usd": price.usd, "price_source": source, "outcome": _outcome(message),
        }
    )  # fmt: skip


def stored(message: AIMessage) -> dict:
    """Return the message as a dictionary without what belongs to the response alone."""
    from langchain_core.messages import message_to_dict

    plain = message_to_dict(message)
    plain["data"] = {k: v for k, v in plain["data"].items() if k not in ("id", "response_metadata", "usage_metadata")}
    return plain


def called(message: AIMessage) -> str:
    """Return the arguments of a tool call that a model made up to give its answer, as JSON text, or ""."""
    return canonical_json(message.tool_calls[0]["args"]) if message.tool_calls else ""


def short(text: str) -> str:
    """Return a text on one line, at most 300 characters."""
    return " ".join(text.split())[:300]
