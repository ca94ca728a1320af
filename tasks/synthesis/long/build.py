"""Draw a long task: a family's playbook of the wanted length, its script, its prompt, its predicted outcome."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from schemas.task import AnswerField, Oracle
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.families.kit import Kit, Link
from tasks.synthesis.gates import numbers_in
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.long.families.adjust import adjust
from tasks.synthesis.long.families.all_or_none import all_or_none
from tasks.synthesis.long.families.follow_up import follow_up
from tasks.synthesis.long.families.pipeline import pipeline
from tasks.synthesis.long.families.plan import plan
from tasks.synthesis.long.families.rebook import rebook
from tasks.synthesis.long.families.triage import triage
from tasks.synthesis.long.kept import Kept, keep_back
from tasks.synthesis.long.outcome import Outcome, settle
from tasks.synthesis.long.playbook import Playbook
from tasks.synthesis.long.prose import tell
from tasks.synthesis.long.reading import free_finders, party_link
from tasks.synthesis.long.reconcile import reconcile
from tasks.synthesis.long.script import Script, compile_playbook
from tasks.synthesis.phrases import Phrasing
from tasks.synthesis.prompt import Speaker
from tasks.synthesis.shadow import Unclear

BANDS = {(7, 12): 3, (13, 24): 4, (25, 40): 4, (41, 72): 6}
"""(fewest, most) calls of a long task -> how often it is wanted."""
LEAST, MOST = 7, 96
"""Calls of a long task, in which no task ends that was meant for a band."""
SLOW = 0.5
"""The share of long tasks that list records party by party, where the tools allow it."""
MULTI_TURN = 0.3
"""The share of long tasks whose user keeps something back, where there is something to keep back."""
TRIES = 14
"""Playbooks that are looked at before a family gives up."""


@dataclass(frozen=True)
class LongFamily:
    """A kind of long work: its name, how to draw playbooks (or to write a candidate at once), its skills."""

    name: str
    draw: Callable[[Desk], Iterator[Playbook]]
    skills: tuple[str, ...]
    write: Callable[[Desk], Candidate | None] | None = None


LONG_FAMILIES: tuple[LongFamily, ...] = (
    LongFamily("triage", triage, ("loop", "conditional", "transition", "search")),
    LongFamily("pipeline", pipeline, ("loop", "conditional", "transition", "search")),
    LongFamily("plan", plan, ("loop", "conditional", "aggregation", "transition", "search")),
    LongFamily("adjust", adjust, ("loop", "conditional", "update", "search")),
    LongFamily("rebook", rebook, ("loop", "create", "transition", "search")),
    LongFamily("follow_up", follow_up, ("loop", "create", "search")),
    LongFamily("all_or_none", all_or_none, ("loop", "decline", "conditional", "join", "transition", "search", "get")),
    LongFamily("reconcile", lambda desk: iter(()), ("loop", "conditional", "update", "search"), reconcile),
)


@dataclass(frozen=True)
class Drawn:
    """A playbook with all that was made of it so far."""

    playbook: Playbook
    outcome: Outcome
    script: Script

    @property
    def calls(self) -> int:
        """The calls that the script should make."""
        return self.script.reads + self.outcome.calls


def build_long(
    atlas: Atlas,
    links: Sequence[Link],
    rng: random.Random,
    phrasing: Phrasing,
    skills: Sequence[str] = (),
    written: Mapping[str, int] | None = None,
) -> Candidate | None:
    """Return one long candidate, or None if the drawn families find no place in this environment.

    Args:
        links: the environment's links (`families.kit.find_links`), computed once.
        skills: skills that the task should exercise; only families that do are drawn.
        written: how many tasks of each template there are already; the more, the less often it is drawn.
    """
    fitting = [family for family in LONG_FAMILIES if not skills or set(skills) & set(family.skills)]
    band = rng.choices(list(BANDS), weights=list(BANDS.values()))[0]
    desk = Desk(Kit(atlas, rng, Speaker(atlas, rng, phrasing), links), band)
    for _ in range(3):
        if not fitting:
            break
        weights = [1 / (1 + (written or {}).get(f"long_{family.name}", 0)) for family in fitting]
        family = rng.choices(fitting, weights=weights)[0]
        fitting.remove(family)
        candidate = family.write(desk) if family.write is not None else _written(desk, family)
        if candidate is not None:
            return replace(candidate, bounds=(LEAST, MOST))
    return None


def _written(desk: Desk, family: LongFamily) -> Candidate | None:
    drawn = draw(desk, family)
    return candidate_of(desk, family, drawn) if drawn is not None else None


def without_leaks(desk: Desk, drawn: Drawn) -> tuple[Drawn, str, tuple[AnswerField, ...]]:
    """Return a playbook with its prompt and answer fields, less what the prompt would give away by a like number."""
    for _ in range(3):
        prompt, fields = tell(desk, drawn.playbook)
        numbers = numbers_in(re.sub(r'"[^"]*"', '""', prompt))
        answer = drawn.outcome.answer(drawn.playbook)
        kept = tuple(stat for stat in drawn.playbook.stats if isinstance(answer[stat.name], str | bool)
                     or float(answer[stat.name]) not in numbers)  # fmt: skip
        if len(kept) == len(fields) or not kept:
            break
        playbook = replace(drawn.playbook, stats=kept)
        script = compile_playbook(desk.kit, playbook, drawn.outcome.rows)
        assert script is not None
        drawn = Drawn(playbook, drawn.outcome, script)
    return drawn, prompt, fields


def candidate_of(desk: Desk, family: LongFamily, drawn: Drawn) -> Candidate:
    """Write a drawn playbook down as a candidate."""
    kept = None
    if desk.rng.random() < MULTI_TURN:
        drawn, kept = _with_user(desk, drawn)
    drawn, prompt, fields = without_leaks(desk, drawn)
    playbook, outcome = drawn.playbook, drawn.outcome
    kinds = {desk.atlas.tools[tool].kind for tool in drawn.script.tools}
    declined = playbook.careful and bool(outcome.codes)
    skills = (kinds | {"loop", "aggregation"} | ({"conditional"} if len(playbook.cases) > 1 else set())
              | ({"decline"} if declined else set()))  # fmt: skip
    return Candidate(
        kind="program",
        template=f"long_{family.name}",
        prompt=prompt,
        oracle=Oracle(script=drawn.script.text),
        fields=fields,
        skills=tuple(sorted(skills)),
        predicted=tuple(outcome.answer(playbook).items()),
        refusals=1 if declined else len(outcome.codes),
        after={} if declined else outcome.state(),
        withheld=withheld(desk, playbook),
        classes=(*(("decline",) if declined else ()), *(("multi_turn",) if kept is not None else ())),
        user=kept.user if kept is not None else None,
        guesses=kept.guesses if kept is not None else (),
    )


def _with_user(desk: Desk, drawn: Drawn) -> tuple[Drawn, Kept | None]:
    """Return a drawn playbook that keeps values back, and who knows them; as it is if it has none to keep back."""
    kept = keep_back(desk, drawn.playbook, len(drawn.outcome.rows))
    script = compile_playbook(desk.kit, kept.playbook, drawn.outcome.rows) if kept is not None else None
    if kept is None or script is None:
        return drawn, None
    return Drawn(kept.playbook, drawn.outcome, script), kept


def draw(desk: Desk, family: LongFamily) -> Drawn | None:
    """Return the first playbook of a family within the desk's band, else the one nearest to it, None if none fits."""
    best: Drawn | None = None
    for drawn in islice(family.draw(desk), TRIES):
        playbook = read_slowly(desk, drawn)
        found = work_out(desk, playbook)
        if found is None or found.calls < LEAST or found.calls > MOST - 6:
            continue
        if desk.band[0] <= found.calls <= desk.band[1]:
            return found
        if best is None or abs(found.calls - desk.band[0]) < abs(best.calls - desk.band[0]):
            best = found
    return best


def work_out(desk: Desk, playbook: Playbook) -> Drawn | None:
    """Return a playbook with its outcome and script, None if it has none or if most of it would come to nothing."""
    try:
        outcome = settle(desk.atlas, playbook, desk.rng)
    except Unclear:
        return None
    if not outcome.rows or (len(outcome.refused) * 2 > len(outcome.rows) and not playbook.careful):
        return None
    if not playbook.careful and sum(1 for done, case in zip(outcome.done, playbook.cases, strict=True) if case.moves
                                    and not done):  # fmt: skip
        return None
    script = compile_playbook(desk.kit, playbook, outcome.rows)
    if script is None or script.tools & withheld(desk, playbook):
        return None
    return Drawn(playbook, outcome, script)


def read_slowly(desk: Desk, playbook: Playbook) -> Playbook:
    """Return a playbook whose records are listed party by party, where a tool does so and chance wills it.

    What is all or nothing is always read so if it can be: it has few writes or none.
    """
    behind = [test.path.partition(".")[0] for test in playbook.tests if "." in test.path]
    references = [playbook.owned_by, *behind]
    fitting = [r for r in references if r and party_link(desk.kit, playbook.table.name, r) is not None]
    if not fitting or (not playbook.careful and desk.rng.random() > SLOW):
        return playbook
    return replace(playbook, listed_by=fitting[0], one_by_one=False)


def withheld(desk: Desk, playbook: Playbook) -> frozenset[str]:
    """Return the tools that the task does not offer: those that list what is to be read one by one."""
    if playbook.listed_by:
        return frozenset(tool.name for tool in free_finders(desk.atlas, playbook.table.name))
    if not playbook.one_by_one:
        return frozenset()
    tests = [*playbook.tests, *(test for case in playbook.cases for test in case.tests)]
    paths = [path for test in tests for path in test.paths if "." in path]
    references = {playbook.table.column(path.partition(".")[0]).references for path in paths}
    tables = {reference.partition(".")[0] for reference in references}
    return frozenset(tool.name for table in tables for tool in free_finders(desk.atlas, table))
