"""Prompts read well: no condition is stated twice in one list, and no word stands twice in a row."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.synthesis import phrases
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.chain import build_chain
from tasks.synthesis.draft import Condition
from tasks.synthesis.families.kit import Kit, find_links
from tasks.synthesis.graph import tool_graph
from tasks.synthesis.long.build import LONG_FAMILIES, build_long, draw
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.long.prose import tell
from tasks.synthesis.phrases import FOLDER, choose, phrasings, undoubled
from tasks.synthesis.program import FAMILIES
from tasks.synthesis.prompt import Speaker, chain_prompt

DOUBLED = re.compile(r"\b([a-z]+) \1\b", re.IGNORECASE)
AWKWARD = ("joined on", "queued at", "moved from", "part of", "marked until", "with", "latest date")


def _atlas(doubled: bool) -> Atlas:
    """Return the shop; `doubled`: each of its actions has each rule twice, as those of mined worlds may."""
    database = shop_database()
    actions = [a.model_copy(update={"rules": (*a.rules, *a.rules)}) if doubled else a for a in database.actions]
    return Atlas(database.model_copy(update={"actions": tuple(actions)}), shop_snapshot(), shop_tools())


def _prompts(atlas: Atlas, seeds: range) -> Iterator[str]:
    """Yield what all ways of writing make of an environment, without running any of it."""
    links, graph = find_links(atlas), tool_graph(atlas)
    for seed in seeds:
        for phrasing in ("train", "held_out"):
            rng = random.Random(f"{seed} {phrasing}")
            kit = Kit(atlas, rng, Speaker(atlas, rng, phrasing), links)
            family = FAMILIES[seed % len(FAMILIES)]
            if (program := family.make(kit)) is not None:
                yield kit.speaker.frame([*program.sentences, *(field.description for field in program.fields)])
            if (draft := build_chain(atlas, graph, rng, 5)) is not None:
                yield chain_prompt(draft, rng, phrasing)[0]
        if seed % 5 == 0 and (long := build_long(atlas, links, random.Random(seed), "train")) is not None:
            yield long.prompt


@pytest.mark.parametrize("doubled", [False, True])
def test_no_list_of_conditions_states_one_twice_and_no_word_is_doubled(doubled, monkeypatch) -> None:
    stated: list[str] = []
    say = phrases.choose

    def listen(rng: random.Random, kind: str, *words: object, **values: object) -> str:
        text = say(rng, kind, *words, **values)  # type: ignore[arg-type]
        if kind.startswith("where_"):
            stated.append(text)
        return text

    monkeypatch.setattr("tasks.synthesis.prompt.choose", listen)
    seen = 0
    for prompt in _prompts(_atlas(doubled), range(60)):
        seen += 1
        bare = re.sub(r'"[^"]*"', '""', prompt)
        assert not DOUBLED.search(bare), prompt
        for phrase in set(stated):
            for joint in (" and ", ", "):
                assert f"{phrase}{joint}{phrase}" not in prompt, prompt
        stated.clear()
    assert seen > 100


def test_each_condition_is_put_once_though_it_was_drawn_twice() -> None:
    atlas = _atlas(False)
    rng = random.Random(1)
    kit = Kit(atlas, rng, Speaker(atlas, rng), find_links(atlas))
    condition = Condition("status", "equals", "pending")
    assert kit.conditions_phrase("orders", [condition, condition]).count("pending") == 1
    (family,) = [family for family in LONG_FAMILIES if family.name == "triage"]
    desk = Desk(kit, (7, 24))
    drawn = draw(desk, family)
    assert drawn is not None
    cases = tuple(replace(case, tests=case.tests * 2) for case in drawn.playbook.cases)
    again = replace(drawn.playbook, cases=cases, tests=drawn.playbook.tests * 2)
    told = []
    for playbook in (drawn.playbook, again):
        kit.rng.seed(5)
        told.append(tell(desk, playbook))
    assert told[0] == told[1]


@pytest.mark.parametrize("kind", sorted(path.stem for path in FOLDER.glob("where_*.j2")))
def test_a_column_that_ends_with_the_phrases_first_word_does_not_double_it(kind: str) -> None:
    values = {"value": '"2024-01-05"', "values": '"a" or "b"', "other": "the stock", "owner": "it",
              "relation": "part of", "condition": "with status 3", "nouns": "orders"}  # fmt: skip
    for column in AWKWARD:
        for seed in range(4 * len(phrasings(kind))):
            text = choose(random.Random(seed), kind, "any", **{**values, "column": column})
            assert not DOUBLED.search(re.sub(r'"[^"]*"', '""', text)), text


def test_values_names_and_numbers_stay_as_they_are() -> None:
    for text in ('the city "Bora Bora"', "with page 1 1 or more", "with is true true", "on one, one more"):
        assert undoubled(text) == text
    assert undoubled("with joined on on or after") == "with joined on or after"
    assert undoubled('On on "at at" at at 3') == 'On "at at" at 3'
