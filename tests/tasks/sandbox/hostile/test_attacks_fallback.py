"""Every attack against what takes bubblewrap's place: what it says is held is held, and the rest is open."""

from __future__ import annotations

import pytest
from hostile.registry import ATTACKS, TRIALS
from hostile.stand import Stand, make_image

from tasks.sandbox import FLOOR


@pytest.fixture(scope="module")
def stand():
    with Stand(make_image(ATTACKS), bubblewrap=False) as made:
        yield made


@pytest.mark.parametrize(("attack", "kind"), TRIALS, ids=lambda value: getattr(value, "name", value))
def test_what_the_statement_holds_is_held(stand, attack, kind):
    if stand.worker.strength.level < FLOOR:
        pytest.skip(f"this machine offers no more than {stand.worker.strength.name}")
    report = stand.run(attack, kind)
    if stand.worker.strength.holds[attack.holds]:
        assert not report.breaches, (report.breaches, report.detail)
        assert report.outcome in attack.ends_of(kind), report
    else:
        assert report.breaches or report.outcome not in attack.ends_of(kind), "this is said to be open"
        assert report.same, "the next episode is as ever"
    assert stand.soon(attack, kind, report), report
