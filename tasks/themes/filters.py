"""Which themes are not worth an environment, each with its reason: gates few_operations, no_description, deprecated,
example, not_english.

All are plain rules on the theme's own words. A theme is taken as English unless its words say otherwise: more than a
third of its letters are not Latin, or function words of another language outnumber the English ones (the method of
stop-word counting, Grefenstette 1995).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.environment import Rejection
from schemas.theme import Theme
from tasks.themes.text import STOP_WORDS

MIN_OPERATIONS = 2
MIN_WORDS = 8
MIN_FOREIGN = 4

_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_DEPRECATED = re.compile(
    r"^\W*deprecated\b|\b(?:this|the)(?: [\w-]+){0,4} (?:api|service|server|version) "
    r"(?:is|was|has been|will be) (?:now |being |officially )?(?:deprecated|discontinued|retired|shut ?down|sunset)",
    re.IGNORECASE,
)
_EXAMPLE_NAME = re.compile(
    r"\b(?:petstore|hello[ -]?world|foo ?bar|lorem ipsum)\b|^(?:test|testing|sample|example|demo|dummy|my|new|untitled)"
    r"(?: (?:api|apis|server|service|app|spec|mcp|openapi|swagger|project))*(?: \d+)?$|"
    r"(?<![\w-])(?:sample|example|demo|dummy)[ -](?:api|server|service|app)\b",
    re.IGNORECASE,
)
_EXAMPLE_TEXT = re.compile(
    r"^\W*(?:(?:this is )?(?:an?|the) )?(?:very |simple |basic )*(?:sample|example|demo|test|dummy|hello world) "
    r"(?:of |for |to |mcp |rest |openapi )*(?:api|server|service|application|app|spec|specification|petstore)\b",
    re.IGNORECASE,
)
_FOREIGN = {
    "German": "der die das und ist nicht von mit für auf dem den ein eine einer werden wird oder zum zur",
    "Spanish": "el los las una del por para con que es se como está esta este su al y de la en un",
    "French": "le les des une du pour avec que est dans sur au aux et de la en un ce cette ou par",
    "Portuguese": "os as uma do da dos das para com que é não em no na ao por um de e",
    "Italian": "il gli una del della per con che è di non sono al alla dei e un la in",
    "Dutch": "het een van voor met dat niet op aan te zijn wordt of de en bij",
}
_FOREIGN_WORDS = {name: frozenset(text.split()) - {"a", "an", "of", "on", "in", "or", "as", "no", "do", "is"}
                  for name, text in _FOREIGN.items()}  # fmt: skip


def keep_suitable(themes: Sequence[Theme]) -> tuple[list[Theme], list[Rejection]]:
    """Return the themes that pass every filter, in the given order, and a rejection for each of the others."""
    kept, rejections = [], []
    for theme in themes:
        fault = unsuitable(theme)
        if fault is None:
            kept.append(theme)
        else:
            gate, reason = fault
            text = f"{theme.source_uri}: {theme.name}: {reason}"
            rejections.append(Rejection(stage="themes", key=theme.theme_id, gate=gate, reason=text))
    return kept, rejections


def unsuitable(theme: Theme) -> tuple[str, str] | None:
    """Return the gate that refuses a theme and why, or None."""
    text = " ".join([theme.description, *(one.description for one in theme.operations)])[:20_000]
    found = _WORD.findall(text)
    if len(theme.operations) < MIN_OPERATIONS:
        return "few_operations", f"{len(theme.operations)} operation, fewer than {MIN_OPERATIONS}"
    if len(found) < MIN_WORDS:
        return "no_description", f"{len(found)} words describe it and its operations, fewer than {MIN_WORDS}"
    if said := _DEPRECATED.search(theme.name) or _DEPRECATED.search(theme.description):
        return "deprecated", f'it says of itself: "{said[0].strip()}"'
    if example := _EXAMPLE_NAME.search(theme.name) or _EXAMPLE_TEXT.search(theme.description):
        return "example", f'it looks like an example, no real topic: "{example[0].strip()}"'
    language = _other_language(text, found)
    return ("not_english", f"its text is not English but {language}") if language else None


def _other_language(text: str, found: list[str]) -> str:
    """Return the language that a text is in, if it is not English."""
    letters = _LETTER.findall(text)
    foreign = [letter for letter in letters if ord(letter) > 0x24F]
    if 3 * len(foreign) > len(letters):
        return "in another script"
    lower = [word.lower() for word in found]
    english = sum(word in STOP_WORDS and len(word) > 1 for word in lower)
    counts = {name: sum(word in words for word in lower) for name, words in _FOREIGN_WORDS.items()}
    best = max(counts, key=lambda name: (counts[name], name))
    return best if counts[best] >= MIN_FOREIGN and counts[best] > 2 * english else ""
