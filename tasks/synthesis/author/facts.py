"""What a request must keep when it is told in other words, and what is wrong with a telling of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schemas.task import AnswerField
from tasks.synthesis.gates import numbers_in

_QUOTED = re.compile(r'"([^"]+)"')
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE = re.compile(r"(?:^|[.!?:;]['\")]*\s+|\n\s*|[-•]\s+)[\"'(]*$")
_ADDRESS = re.compile(r"https?:|www\.|@|<<<|>>>|```|\{|\}", re.IGNORECASE)
_TYPOGRAPHIC = str.maketrans({"“": '"', "”": '"', "„": '"', "\u00a0": " ", "\u202f": " "})
_PLAIN_CAPITALS = frozenset({"I", "JSON", "OK", "PS", "ASAP", "FYI"})

NUMBER_WORDS = frozenset(
    ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty")
    + ("thirty", "forty", "fifty", "hundred", "thousand", "dozen", "half", "twice")
)
"""Words for numbers; "one" is not among them, since it stands for things too."""


@dataclass(frozen=True)
class Facts:
    """The facts of a request.

    Attributes:
        draft: the request as the rules worded it.
        texts: the values that it states in double quotes, the names of the answer's fields aside.
        numbers: the numbers that it states outside of quotes.
        fields: the fields of the answer.
    """

    draft: str
    texts: tuple[str, ...]
    numbers: tuple[float, ...]
    fields: tuple[AnswerField, ...]

    @classmethod
    def of(cls, draft: str, fields: tuple[AnswerField, ...]) -> Facts:
        """Return the facts of a request and the answer that it asks for."""
        names = {field.name for field in fields}
        texts = tuple(dict.fromkeys(text for text in _QUOTED.findall(draft) if text not in names))
        return cls(draft, texts, tuple(sorted(numbers_in(unquoted(draft)))), fields)


def straight(text: str) -> str:
    """Return a text with straight double quotes and plain spaces instead of typographic ones."""
    return text.translate(_TYPOGRAPHIC).strip()


def unquoted(text: str) -> str:
    """Return a text without what stands in double quotes."""
    return re.sub(r'"[^"]*"', '""', text)


def retelling_fault(text: str, facts: Facts, is_label: Callable[[str], bool]) -> str:
    """Return why a telling does not say what the facts say, in words that tell its writer what to mend; '' if it does.

    Args:
        is_label: says whether a text names a record of the environment.
    """
    if text.count('"') % 2:
        return "A double quote is not closed."
    if len(text) > 3 * len(facts.draft) + 600:
        return f"It is too long: {len(text)} characters; the draft has {len(facts.draft)}."
    said, names = set(_QUOTED.findall(text)), {field.name for field in facts.fields}
    if missing := [value for value in facts.texts if value not in said]:
        return f"These values are missing; each must stand exactly so, in double quotes: {_shown(missing)}."
    if missing := [name for name in sorted(names - said)]:
        return f"These fields of the answer are not asked for; name each in double quotes: {_shown(missing)}."
    if added := sorted(said - names - set(facts.texts)):
        return f"These quoted values are not in the draft; take them out: {_shown(added)}."
    outside = unquoted(text)
    numbers = numbers_in(outside)
    if missing := [number for number in facts.numbers if number not in numbers]:
        return f"These numbers are missing; write them as digits: {', '.join(f'{number:g}' for number in missing)}."
    if added := sorted(numbers - set(facts.numbers)):
        return f"These numbers are not in the draft; take them out: {', '.join(f'{number:g}' for number in added)}."
    return _added_words(outside, facts.draft, is_label)


def _added_words(outside: str, draft: str, is_label: Callable[[str], bool]) -> str:
    """Say which name, number word or address stands outside of quotes though the draft does not hold it."""
    known = {word.lower() for word in _WORD.findall(draft)}
    if (found := _ADDRESS.search(outside)) and found.group() not in draft:
        return f"It holds {found.group()!r}; write plain sentences without addresses, braces or code."
    for match in _WORD.finditer(outside):
        word = match.group()
        if word.lower() in known or word.lower().removesuffix("'s").removesuffix("’s") in known:
            continue
        if word.lower() in NUMBER_WORDS:
            return f"It says {word!r}, a number that is not in the draft; take it out."
        inside = not _SENTENCE.search(outside[: match.start()])
        if (word[0].isupper() and inside and word not in _PLAIN_CAPITALS) or is_label(word):
            return f"It names {word!r}, which is not in the draft; take it out."
    return ""


def _shown(values: list[str]) -> str:
    return ", ".join(f'"{value}"' for value in values)
