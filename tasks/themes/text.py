"""Words, sentences and names out of the prose of source documents."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CAMEL_IN_PROSE = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")  # GeoMatchSet is split, PyPI and APIs are not
_WORD = re.compile(r"[a-z][a-z0-9]+")
_TAG = re.compile(r"<[^<>]{0,400}>")
_BLOCK_END = re.compile(r"</(?:p|li|ul|ol|dd|dt|h\d|note|important)>|<br */?>", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|\b(?:[\w-]+\.){2,}[a-z]{2,}\b")
_CONTRACTION = re.compile(r"n['’]t\b|['’](?:s|re|ve|ll|d)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"“(])")
_REFUSES = re.compile(
    r"\b(?:only (?:while|when|if|before|after|once|by|from|for|in|on|a|an|the)|must|cannot|can't|may not|can not|"
    r"not allowed|at most|at least|no more than|not more than|never|unless|refused?|refuses|rejected|not permitted|"
    r"fails? if|not possible)\b",
    re.IGNORECASE,
)

STOP_WORDS = frozenset(
    """a about above after again against all also although am an and another any are as at be because been before
    being below between both but by can cannot could did do does doing done down during each either else etc every few
    first for from further had has have having he her here hers him his how however if in instead into is it its itself
    just last least less like made make makes many may me might more most much must my near need needs neither never
    next no nor not now of off on once one only onto or other others our out over own per rather s same second see set
    she should since so some still such t than that the their them then there these they this those three through thus
    to too two under unless until up upon us use used uses using very via was we were what when where whether which
    while who whole whom whose why will with within without would yes yet you your""".split()
)
"""English function words: they tell nothing about a topic."""

GENERIC_WORDS = frozenset(
    """able accept accepts access action actions add added additional allow allowed allows amazon amz api apis app
    application applications apply argument arguments arn array associated associate attribute attributes automatically
    available aws based batch body boolean call called caller calls case change changed changes check choose code
    collection common configuration configure contain contains control copy correct corresponding create created
    creates creation current currently custom data date day days default define defined defines definition delete
    deleted deletes describe describes description detail details different display document documentation documents
    does empty enable end endpoint entity entries entry error errors example exception existing exists exposed fact
    false field fields file files filter filters find follow following follows form format full fully function further
    general get gets give given gives group groups guide http https id identifier identifiers identifies ids include
    included includes including indicates info information input instance integer internal invalid item items json
    keep key keys kind know last later learn level limit limits line list listed lists long main manage managed
    management max maximum may mean means member members message method min minimum model modify name named names new
    non note null number numbers object objects occurs old open operation operations option optional options order
    output page pages parameter parameters part particular pass path perform performs permission permissions place
    point policy possible present previously print process property provide provided provider provides public put
    query read ready receive record records refer reference refers related remove removes replace represents request
    requested requests require required requires resource resources response responses result results return returned
    returns right role rule rules run running say search section select send sent server service services several
    show shows sign simple single size source specific specified specifies specify standard start started starts state
    status step stop store stored stores string structure submit successful successfully support supported supports
    system table tag tags take taken target tell template text time times token tool tools top total true type types
    unique unit update updated updates url user users valid value values version view want way whose within work works
    write yaml year mcp untag tagging cli sdk already protocol context llms queries providing asynchronous synchronous across""".split()
)
"""Words of every interface description: they do not tell one topic from another."""


def plain(markup: str) -> str:
    """Return prose without HTML tags; the end of a block becomes the end of a sentence."""
    text = _ADDRESS.sub(" ", html.unescape(_TAG.sub(" ", _BLOCK_END.sub(" \n", markup))))
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return " ".join(line if line[-1] in ".!?:;," else f"{line}." for line in lines if line)


def sentences(text: str) -> list[str]:
    """Return the sentences of prose, in order, with white space collapsed."""
    parts = _SENTENCE_END.split(re.sub(r"\s+", " ", text).strip())
    return [part.strip(" -*") for part in parts if part.strip(" -*.")]


def refusing(text: str) -> list[str]:
    """Return the sentences that state when something is refused ("only while pending", "must not", "at most")."""
    return [line for line in sentences(text) if 20 <= len(line) <= 400 and _REFUSES.search(line)]


def stem(word: str) -> str:
    """Return a word without its plural ending. Plain suffix rules: good enough to match "cities" with "city"."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words(text: str) -> list[str]:
    """Return the lower-case words of prose, in order; CamelCase names are split, stop words are kept."""
    return _WORD.findall(_CONTRACTION.sub(" ", _CAMEL_IN_PROSE.sub(" ", text)).lower())


def telling_words(text: str) -> list[str]:
    """Return the words of prose that are neither stop words nor words of every interface description."""
    return [word for word in words(text) if word not in STOP_WORDS and word not in GENERIC_WORDS and len(word) > 2]


def snake(identifier: str) -> str:
    """Return an identifier in snake case: "ListIPSets" -> "list_ip_sets", "cancel-booking" -> "cancel_booking"."""
    return "_".join(re.findall(r"[a-z0-9]+", _CAMEL.sub(" ", identifier).lower()))


def slug(name: str, length: int = 40) -> str:
    """Return a name as lower-case words joined by hyphens, at most `length` characters; "theme" if none is left."""
    out = ""
    for word in re.findall(r"[a-z0-9]+", name.lower()):
        if out and len(out) + 1 + len(word) > length:
            break
        out = f"{out}-{word}" if out else word[:length]
    return out or "theme"


def shorten(text: str, length: int = 600) -> str:
    """Return whole sentences of the text up to `length` characters, at least a part of the first."""
    out = ""
    for line in sentences(text):
        if out and len(out) + 1 + len(line) > length:
            break
        out = f"{out} {line}".strip()
    return out[:length]


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items without repetition, in their first order, empty ones left out."""
    return tuple(dict.fromkeys(item for item in items if item))
