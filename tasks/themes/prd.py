"""Reads a product requirements document in Markdown.

The title is the first level-1 heading. Sections are level-2 headings, matched by words in them: background, users,
workflows (or use cases, user stories, features, functional requirements, what users can do), rules, interfaces, data.
Each level-3 heading of a
workflow section is an operation ("### Cancel a booking", with the name in backticks if it has one); without level-3
headings its list items are. Under an operation, "Takes: a, b" lists its parameters, and every refusing sentence
is a rule.
"""

from __future__ import annotations

import re

from schemas.theme import Operation
from tasks.themes.reading import Reading, UnreadableSource, rule_lines
from tasks.themes.text import refusing, shorten, snake, unique

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
_WORKFLOWS = re.compile(
    r"workflow|use case|user stor|feature|functional|requirement|process|"
    r"capabilit|scenario|what (?:the )?(?:\w+ )?(?:can|may|must|should|will)? ?(?:be able to )?do\b|"
    r"what (?:the )?\w+ (?:can|need to|may|must|should|will)\b",
    re.IGNORECASE,
)
_DATA = re.compile(r"\bdata\b", re.IGNORECASE)
_ABOUT = re.compile(r"background|overview|summary|introduction|purpose|context|goal|vision|problem", re.IGNORECASE)
_TAKES = re.compile(r"^\s*(?:[-*+]\s+)?(?:takes|inputs?|parameters)\s*:\s*(.+?)\.?\s*$", re.IGNORECASE | re.MULTILINE)
_LICENCE = re.compile(r"^\s*licen[cs]e\s*:\s*(\S.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_RULES = re.compile(r"\b(?:business )?rules\b|constraints", re.IGNORECASE)
_ARTICLES = {"a", "an", "the"}
_CLAUSE = re.compile(r"\s+(?:by|with|for|on|in|from|to|at|so that|when|if)\s|[;,(]", re.IGNORECASE)
_ASKED = re.compile(r"^(?:as an? .{1,60}?,?\s+)?(?:i|we|users?|they) (?:want to|can|need to|may)\s+", re.IGNORECASE)


def is_prd(text: str) -> bool:
    """Say whether a text is Markdown with a title and a section that describes workflows."""
    parts = _sections(text)
    return bool(parts) and parts[0][0] == 1 and any(level == 2 and _WORKFLOWS.search(head) for level, head, _ in parts)


def read_prd(text: str) -> Reading:
    """Return the reading of a PRD.

    Raises:
        UnreadableSource: if it has no title or no workflow.
    """
    parts = _sections(text)
    if not parts or parts[0][0] != 1:
        raise UnreadableSource("no_name", "a PRD starts with a level-1 heading: its title")
    operations, rules, needs, about, section = [], [], [], [parts[0][2]], ""
    for level, heading, body in parts[1:]:
        if level <= 2:
            section = heading
        if level == 2 and _ABOUT.search(heading):
            about.append(body)
        elif _RULES.search(section) and not _WORKFLOWS.search(section):
            rules += [("", line) for line in refusing(_prose(body))]
        elif _DATA.search(section):
            needs += [match[1] for line in body.splitlines() if (match := _ITEM.match(line))]
        elif _WORKFLOWS.search(section):
            found = [(heading, body)] if level == 3 else _items(body) if level == 2 else []
            for head, content in found:
                operation = _operation(head, content)
                operations.append(operation)
                rules += [(operation.name, line) for line in refusing(_prose(content))]
    licence = _LICENCE.search(parts[0][2])
    description = _LICENCE.sub("", "\n".join(about))
    return Reading(
        kind="prd",
        name=parts[0][1],
        description=shorten(_prose(description)),
        operations=tuple(operations),
        needs=unique(line.strip(" .") for line in needs),
        rules=rule_lines(rules),
        licence=licence[1].strip("*_` ") if licence else "",
    )


def _sections(text: str) -> list[tuple[int, str, str]]:
    """Return (level, heading, body) of each section; text before the first heading is left out."""
    out: list[tuple[int, str, list[str]]] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else _HEADING.match(line)
        if match:
            out.append((len(match[1]), match[2].strip("* "), []))
        elif out:
            out[-1][2].append(line)
    return [(level, heading, "\n".join(lines)) for level, heading, lines in out]


def _items(body: str) -> list[tuple[str, str]]:
    """Return the list items of a workflow section without sub-headings, as (heading, content)."""
    items = [match[1] for line in body.splitlines() if (match := _ITEM.match(line))]
    return [(_verb_phrase(re.split(r"[:.]", item, maxsplit=1)[0]), item) for item in items]


def _verb_phrase(item: str) -> str:
    """Return what an item says is done, without by whom and with what: 'Find a hotel by name' -> 'Find a hotel'."""
    done = _ASKED.sub("", item.strip())
    short = _CLAUSE.split(done, maxsplit=1)[0]
    return short if len(short.split()) > 1 or "`" in item else done


def _operation(heading: str, body: str) -> Operation:
    named = re.search(r"`([A-Za-z_][\w.-]*)`", heading)
    spoken = [word for word in re.findall(r"[A-Za-z0-9]+", heading) if word.lower() not in _ARTICLES]
    takes = _TAKES.search(body)
    parameters = re.split(r",| and ", takes[1]) if takes else []
    return Operation(
        name=snake(named[1]) if named else snake(" ".join(spoken[:6])),
        description=shorten(_prose(_TAKES.sub("", body)), 400),
        parameters=unique(snake(re.sub(r"\(.*?\)", "", one)) for one in parameters),
    )


def _prose(body: str) -> str:
    """Return a section's text as one line of prose; a list item or paragraph without a full stop gets one."""
    lines: list[str] = []
    for line in body.splitlines():
        match = _ITEM.match(line)
        if match or not line.strip() or not lines:
            lines.append(match[1] if match else line.strip())
        else:
            lines[-1] = f"{lines[-1]} {line.strip()}".strip()
    ended = (line if line.endswith((".", "!", "?", ":")) else f"{line}." for line in lines if line)
    return re.sub(r"[*_`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}", "", " ".join(ended))
