"""Answers as JSON: found in whatever a model wrote around them, validated, and their faults put into words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)

MOST_FAULTS = 8
_BLOCK = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_REFUSAL = re.compile(
    r"\s*(?:i(?:['’]m| am) (?:very )?(?:sorry|afraid|unable)|sorry,|i (?:can['’]t|cannot|won['’]t|must decline)\b)",
    re.IGNORECASE,
)


class Faulty(Exception):
    """An answer that is not as asked; the message tells the model what to mend."""


def reads_as_refusal(text: str) -> bool:
    """Say whether a text without an answer begins as refusals begin."""
    return bool(_REFUSAL.match(text))


def _objects(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    for part in [text, *_BLOCK.findall(text)]:
        try:
            yield json.loads(part)
        except ValueError:
            continue
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def find_json(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text: the text itself, a fenced block, or an object amid words.

    Raises:
        Faulty: if there is none.
    """
    for value in _objects(text):
        if isinstance(value, dict):
            return value
    where = ""
    if "{" in text:
        try:
            json.JSONDecoder().raw_decode(text, text.find("{"))
        except ValueError as error:
            where = f" The JSON breaks off or is malformed: {error}."
    raise Faulty(f"It holds no complete JSON object.{where}")


def parse(text: str, answer: type[T], check: Callable[[T], str] | None) -> T:
    """Return the answer in a text, validated by its model and then by `check`, which returns a fault or "".

    Raises:
        Faulty: naming each fault's place.
    """
    try:
        found = answer.model_validate(find_json(text))
    except ValidationError as error:
        raise Faulty(describe(error)) from error
    fault = check(found) if check else ""
    if fault:
        raise Faulty(fault)
    return found


def describe(error: ValidationError) -> str:
    """Return the faults of a validation, one a line, with their places."""
    faults = error.errors(include_url=False, include_context=False)
    lines = [f"- {'.'.join(map(str, fault['loc'])) or 'the answer'}: {fault['msg']}" for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        lines.append(f"- and {len(faults) - MOST_FAULTS} more")
    return "\n".join(lines)
