"""What numbers, dates and superlatives of a prompt mean, and which parameters they speak of."""

from __future__ import annotations

import pytest

from tasks.policies.pointer.comparisons import parameter_bound, superlative, wanted_flag
from tasks.policies.pointer.prompts import text_units
from tasks.policies.pointer.units import Kind

_BOUNDS = {
    "no more than 4 units": -1,
    "seats of at least 10": 1,
    'queued on "2024-07-10" or later': 1,
    "points not above 8": -1,
    "an amount of 16.0 and up": 1,
    "41 points or 42 or less": -1,
    "word count not below 650": 1,
    'from "2024-07-22" on': 1,
    'not before "2022-10-15"': 1,
    'dated "2021-11-23" or earlier': -1,
    "up to 12": -1,
    "no later than 2024-01-01": -1,
    "not earlier than 2024-01-01": 1,
    "exactly 8 for seconds": 0,
    "at most 1. Send 5": 0,
}


@pytest.mark.parametrize("text", list(_BOUNDS))
def test_the_last_value_of_a_phrase_is_a_bound(text: str) -> None:
    units, _ = text_units(text, Kind.PROMPT)
    value = [unit for unit in units if any(char.isdigit() for char in unit.value)][-1]
    assert value.bound == _BOUNDS[text]


def test_parameters_say_what_they_bound() -> None:
    assert parameter_bound("min_price", "") == parameter_bound("earliest_start", "") == 1
    assert parameter_bound("units_to", "") == parameter_bound("highest_fee", "") == -1
    assert parameter_bound("price", "") == parameter_bound("min_max", "") == 0
    assert parameter_bound("price", "Only rows of this price or more") == 1


def test_superlatives_ask_for_an_end() -> None:
    assert [superlative("largest", "the"), superlative("oldest", "the"), superlative("least", "at")] == [1, -1, 0]
    assert wanted_flag("descending", 1) is True and wanted_flag("descending", -1) is False
    assert wanted_flag("ascending", 1) is False and wanted_flag("descending", 0) is None
    assert wanted_flag("archived", 1) is None
