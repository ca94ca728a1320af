"""What `Strength.holds` states is checked both ways, for each combination of means that a machine may have."""

from __future__ import annotations

import pytest
from hostile.registry import ATTACKS
from hostile.stand import Stand, make_image

from tasks.sandbox import PROPERTIES, SandboxWorker, sandbox_strength
from tasks.sandbox.strength import bubblewrap_works

AIMED = [attack for attack in ATTACKS if attack.aimed]
COMBINATIONS = {
    "all": {},
    "no bubblewrap": {"bubblewrap": False},
    "no filter": {"seccomp": False},
    "the filter alone": {"bubblewrap": False, "landlock": False},
    "landlock alone": {"bubblewrap": False, "seccomp": False},
    "limits alone": {"bubblewrap": False, "landlock": False, "seccomp": False},
}


@pytest.mark.parametrize("name", COMBINATIONS)
def test_held_means_held_and_open_means_open(name):
    """Only attacks that hit nothing but the stand's own targets are let loose here."""
    through: dict[str, list[str]] = {}
    with Stand(make_image(AIMED), **COMBINATIONS[name]) as stand:
        holds = stand.worker.strength.holds
        for attack in AIMED:
            for kind in ("tool", "script"):
                report = stand.run(attack, kind)
                if report.breaches or report.outcome not in attack.ends_of(kind):
                    through.setdefault(attack.holds, []).append(f"{attack.name} as a {kind}: {report}")
                if not report.same:
                    stand.restart()
    held = {name for name, holds_it in holds.items() if holds_it}
    assert {name: cases for name, cases in through.items() if name in held} == {}, "said to be held"
    assert sorted(set(holds) - held - set(through)) == [], "said to be open, but nothing gets through"


def test_every_property_is_attacked_as_a_tool_and_as_a_script():
    tried = {(attack.holds, "tool") for attack in ATTACKS if attack.code}
    tried |= {(attack.holds, "script") for attack in ATTACKS if attack.script_for({})}
    assert tried == {(name, kind) for name in PROPERTIES for kind in ("tool", "script")}
    assert len({attack.slug for attack in ATTACKS}) == len(ATTACKS) and len(ATTACKS) > 120


def test_what_can_be_open_has_an_attack_that_shows_it():
    weakest = sandbox_strength(use_bubblewrap=False, use_seccomp=False, use_landlock=False)
    assert {name for name, held in weakest.holds.items() if not held} <= {attack.holds for attack in AIMED}


def test_the_worker_states_what_it_has():
    assert SandboxWorker().strength == sandbox_strength()
    assert sandbox_strength().holds.keys() == PROPERTIES.keys()
    if bubblewrap_works():
        assert SandboxWorker(bubblewrap=False).strength.holds["own_namespaces"] is False
