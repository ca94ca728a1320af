"""Every attack of the hostile suite against the strongest sandbox of this machine, as a tool and as a script."""

from __future__ import annotations

import pytest
from hostile.registry import ATTACKS, TRIALS
from hostile.stand import Stand, make_image


@pytest.fixture(scope="module")
def stand():
    with Stand(make_image(ATTACKS)) as made:
        yield made


@pytest.mark.parametrize(("attack", "kind"), TRIALS, ids=lambda value: getattr(value, "name", value))
def test_it_ends_as_it_must_and_nothing_is_hit(stand, attack, kind):
    report = stand.run(attack, kind)
    assert not report.breaches, (report.breaches, report.detail)
    assert report.outcome in attack.ends_of(kind), report
    assert stand.soon(attack, kind, report), report
