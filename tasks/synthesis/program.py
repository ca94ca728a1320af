"""Programmatic tasks: draw a family, write its script and prompt."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from schemas.task import Oracle
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.families.average import average
from tasks.synthesis.families.branch import branch
from tasks.synthesis.families.budget import budget
from tasks.synthesis.families.compare import compare
from tasks.synthesis.families.creation import creation
from tasks.synthesis.families.decline import decline
from tasks.synthesis.families.document import document
from tasks.synthesis.families.gate import gate
from tasks.synthesis.families.groups import groups
from tasks.synthesis.families.joined import joined
from tasks.synthesis.families.kit import Kit, Link, Program
from tasks.synthesis.families.sweep import sweep
from tasks.synthesis.families.update_each import update_each
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.prompt import Speaker


@dataclass(frozen=True)
class Family:
    """A kind of program: how to make one, and the skills that it exercises (constructs, then kinds of tools)."""

    name: str
    make: Callable[[Kit], Program | None]
    skills: tuple[str, ...]


FAMILIES: tuple[Family, ...] = (
    Family("sweep", sweep, ("loop", "aggregation", "transition", "search")),
    Family("update_each", update_each, ("loop", "aggregation", "update", "search")),
    Family("branch", branch, ("loop", "conditional", "aggregation", "transition", "search")),
    Family("budget", budget, ("loop", "conditional", "aggregation", "transition", "search")),
    Family("compare", compare, ("aggregation", "conditional", "search")),
    Family("joined", joined, ("loop", "join", "aggregation", "get", "search")),
    Family("groups", groups, ("aggregation", "join", "loop", "conditional", "transition", "get", "search")),
    Family("gate", gate, ("conditional", "aggregation", "transition", "search")),
    Family("average", average, ("aggregation", "conditional", "aggregate", "search")),
    Family("creation", creation, ("loop", "aggregation", "create", "search")),
    Family("document", document, ("document", "join", "aggregation", "get")),
    Family("decline", decline, ("decline", "conditional", "transition", "search")),
)


def build_program(
    atlas: Atlas,
    links: Sequence[Link],
    rng: random.Random,
    phrasing: Phrasing,
    skills: Sequence[str] = (),
    written: Mapping[str, int] | None = None,
) -> Candidate | None:
    """Return one program candidate, or None if the drawn families find no place in this environment.

    Args:
        links: the environment's links (`families.kit.find_links`), computed once.
        skills: skills that the program should exercise; only families that do are drawn, by how many of them they do.
        written: how many programs of each family there are already; the more, the less often it is drawn.
    """
    fitting = [family for family in FAMILIES if set(skills) & set(family.skills)] if skills else list(FAMILIES)
    weights = {family.name: float(len(set(skills) & set(family.skills)) or 1) for family in fitting}
    for name in weights:
        weights[name] /= 1 + (written or {}).get(name, 0)
    by_name = {family.name: family for family in FAMILIES}
    speaker = Speaker(atlas, rng, phrasing)
    kit = Kit(atlas, rng, speaker, links)
    for _ in range(6):
        if not weights:
            break
        name = rng.choices(list(weights), weights=list(weights.values()))[0]
        del weights[name]
        program = by_name[name].make(kit)
        if program is not None:
            return _candidate(atlas, name, program, speaker)
    return None


def _candidate(atlas: Atlas, name: str, program: Program, speaker: Speaker) -> Candidate:
    described = [(field.name, field.description) for field in program.fields]
    kinds = {atlas.tools[tool].kind for tool in program.tools}
    return Candidate(
        kind="program",
        template=name,
        prompt=speaker.frame([*program.sentences, speaker.reply(described)]),
        oracle=Oracle(script=program.script),
        fields=program.fields,
        skills=tuple(sorted(kinds | set(program.constructs))),
        predicted=tuple(program.predicted.items()),
        choices=program.choices,
        refusals=program.refusals,
        classes=("decline",) if "decline" in program.constructs else (),
    )
