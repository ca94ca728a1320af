"""A request to a model in its one normal form: what is hashed, stored and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from schemas.base import canonical_json, content_hash
from schemas.models import ModelChoice

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from tasks.models.tools import AgentTool

BYTES_PER_TOKEN = 2
"""Fewer than any common text has, so that the estimate of a prompt's tokens is an upper one."""

TOKENS_PER_MESSAGE = 16


def redact(text: str, secrets: Sequence[str]) -> str:
    """Return the text with every one of the keys replaced by `[key]`."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text


def without_secrets(value: Any, secrets: Sequence[str]) -> Any:
    """Return a JSON value with the keys replaced in all its texts."""
    if not secrets:
        return value
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, list):
        return [without_secrets(item, secrets) for item in value]
    if isinstance(value, dict):
        return {redact(key, secrets): without_secrets(item, secrets) for key, item in value.items()}
    return value


def clean(messages: Sequence[BaseMessage], secrets: Sequence[str]) -> list[BaseMessage]:
    """Return the messages without keys: a page or a tool that got hold of one does not spread it."""
    if not secrets:
        return list(messages)
    from langchain_core.messages import message_to_dict, messages_from_dict

    return messages_from_dict([without_secrets(message_to_dict(message), secrets) for message in messages])


def tool_schema(name: str, description: str, arguments: type[BaseModel]) -> dict[str, Any]:
    """Return a tool in the form that chat APIs take."""
    schema = {key: value for key, value in arguments.model_json_schema().items() if key != "title"}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def normal_form(choice: ModelChoice, messages: Sequence[BaseMessage], tools: Sequence[AgentTool]) -> dict[str, Any]:
    """Return all that decides an answer, and nothing else: no address, no key, no ids of responses."""
    return {
        "provider": choice.provider,
        "model": choice.name,
        "temperature": choice.temperature,
        "max_tokens": choice.max_tokens,
        "messages": [_message(message) for message in messages],
        "tools": [tool_schema(tool.name, tool.description, tool.arguments) for tool in tools],
    }


def _message(message: BaseMessage) -> dict[str, Any]:
    kept = {"role": message.type, "content": message.content}
    for name in ("tool_calls", "invalid_tool_calls", "tool_call_id"):
        if value := getattr(message, name, None):
            kept[name] = value
    return kept


def request_hash(request: dict[str, Any]) -> str:
    """Return the sha256 of a normal form."""
    return content_hash(request)


def most_prompt_tokens(request: dict[str, Any]) -> int:
    """Return an upper estimate of the tokens that a request's messages and tools make."""
    size = len(canonical_json([request["messages"], request["tools"]]).encode())
    return size // BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * (len(request["messages"]) + len(request["tools"]))
