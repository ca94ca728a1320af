"""Nouns in the forms that schemas and sentences need."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PLURALS = (("ies", "y"), ("sses", "ss"), ("es", "e"), ("s", ""))
_VERBS = (("ing", ""), ("ed", ""))


@dataclass(frozen=True)
class Noun:
    """A noun phrase in the singular, e.g. 'flight booking', and the names made from it."""

    one: str

    @property
    def many(self) -> str:
        """The plural: 'flight bookings'."""
        return plural(self.one)

    @property
    def snake(self) -> str:
        """The singular in snake case: 'flight_booking'."""
        return re.sub(r"[^a-z0-9]+", "_", self.one.lower()).strip("_")

    @property
    def table(self) -> str:
        """The plural in snake case: 'flight_bookings'."""
        return re.sub(r"[^a-z0-9]+", "_", self.many.lower()).strip("_")

    @property
    def key(self) -> str:
        """The name of the key column: 'flight_booking_id'."""
        return f"{self.snake}_id"

    @property
    def a(self) -> str:
        """With the indefinite article: 'a flight booking'."""
        return f"{article(self.one)} {self.one}"

    def __str__(self) -> str:
        return self.one


def plural(phrase: str) -> str:
    """Return the English plural of a regular noun phrase."""
    if re.search(r"[^aeiou]y$", phrase):
        return phrase[:-1] + "ies"
    return phrase + ("es" if re.search(r"(s|x|z|ch|sh)$", phrase) else "s")


def article(phrase: str) -> str:
    """Return 'a' or 'an', by the first letter."""
    return "an" if phrase[:1].lower() in "aeio" else "a"


def stem(word: str) -> str:
    """Return a crude stem, so that 'bookings', 'booked' and 'booking' meet; it serves matching, not reading."""
    word = word.lower()
    for endings in (_PLURALS, _VERBS):
        for ending, left in endings:
            if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
                word = word[: -len(ending)] + left
                break
    return word.removesuffix("e") if len(word) > 4 else word


def stems(text: str) -> list[str]:
    """Return the stems of a text's words in order, camel case and snake case split."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return [stem(word) for word in re.findall(r"[A-Za-z]{3,}", text)]
