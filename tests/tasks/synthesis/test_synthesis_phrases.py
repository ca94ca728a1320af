"""Every phrasing renders; the held-out share stays apart."""

from __future__ import annotations

import random

import pytest
from jinja2 import Environment, meta
from worlds import shop_database, shop_snapshot, shop_tools

from tasks.synthesis.atlas import Atlas
from tasks.synthesis.families.kit import find_links
from tasks.synthesis.long.prose import REGISTERS
from tasks.synthesis.phrases import (
    FOLDER,
    choose,
    frames,
    is_held_out,
    lay_out,
    literal,
    phrasings,
    templates_hash,
    tidy,
)
from tasks.synthesis.program import FAMILIES, build_program

KINDS = sorted(path.stem for path in FOLDER.glob("*.j2"))


def _variables(kind: str) -> set[str]:
    environment = Environment()
    environment.filters["sentence"] = environment.filters["article"] = str
    return meta.find_undeclared_variables(environment.parse((FOLDER / f"{kind}.j2").read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", KINDS)
def test_all_phrasings_render_and_say_their_values(kind: str) -> None:
    values = {name: f"<{name}>" for name in _variables(kind)}
    lines = [template.render(**values) for template in phrasings(kind)]
    assert sum(not is_held_out(i) for i in range(len(lines))) >= 7
    assert sum(is_held_out(i) for i in range(len(lines))) >= 2
    if kind not in ("opening", "closing"):
        assert len(set(lines)) == len(lines)
        optional = {"noun", "nouns", "other", "others", "key"}  # some phrasings do without
        for line in lines:
            assert all(value in line or value.lower() in line.lower() for name, value in values.items()
                       if name not in optional), line  # fmt: skip


@pytest.mark.parametrize("register", REGISTERS)
def test_every_register_lays_out_all_parts(register: str) -> None:
    values = {"nouns": "orders", "scope": "Scope.", "rules": ["One.", "Two."], "notes": ["Mind.", "This."],
              "reply": "Reply.", "who": "Mara"}  # fmt: skip
    lines = [frame.render(**values) for frame in frames(register)]
    assert any(is_held_out(index) for index in range(len(lines))) and len(set(lines)) == len(lines)
    for line in lines:
        assert all(part in line for part in ("Scope.", "One.", "Two.", "Mind.", "This.", "Reply."))
    assert lay_out(random.Random(3), register, "held_out", **values)


def test_train_and_held_out_phrasings_never_meet() -> None:
    def seen(phrasing: str) -> set[str]:
        return {choose(random.Random(s), "find", phrasing, row="it") for s in range(200)}  # type: ignore[arg-type]

    assert not seen("train") & seen("held_out")
    assert seen("any") == seen("train") | seen("held_out")


def test_every_family_writes_in_the_held_out_phrasing_too() -> None:
    atlas = Atlas(shop_database(), shop_snapshot(), shop_tools())
    links = find_links(atlas)
    made = set()
    for seed in range(120):
        for phrasing in ("train", "held_out"):
            candidate = build_program(atlas, links, random.Random(seed), phrasing)  # type: ignore[arg-type]
            assert candidate is not None
            made.add((candidate.template, phrasing))
    families = {family.name for family in FAMILIES} - {"document"}  # no document of the shop has such rows
    assert {name for name, phrasing in made if phrasing == "train"} == families
    assert {name for name, phrasing in made if phrasing == "held_out"} == families


def test_literals_and_tidying() -> None:
    assert literal("Blue Mug") == '"Blue Mug"'
    assert (literal(True), literal(3), literal(2.5)) == ("true", "3", "2.5")
    assert tidy("Place a order , for  it .") == "Place an order, for it."
    assert tidy("a user and a unit") == "a user and a unit"


def test_the_hash_covers_the_texts() -> None:
    assert len(templates_hash()) == 64
    assert templates_hash() == templates_hash()
