"""References to earlier observations: round trips over arbitrary JSON, and clear errors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.environment import UnresolvedReference, is_reference, resolve_references

NAMES = st.text(st.characters(blacklist_characters=".[]$", blacklist_categories=("Cs",)), min_size=1, max_size=6)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


def places(value, path=""):
    """Yield every place in a JSON value with its path."""
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{path}[{index}]")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(NAMES, JSON, max_size=3), min_size=1, max_size=3), st.data())
def test_every_place_can_be_referred_to(observations, data):
    step = data.draw(st.integers(0, len(observations) - 1))
    path, value = data.draw(st.sampled_from(list(places(observations[step]))))
    argument = {"a": [{"$ref": f"{step}{path}"}, "kept"], "b": 1}
    assert resolve_references(argument, observations) == {"a": [value, "kept"], "b": 1}


@given(JSON)
def test_values_without_references_stay(value):
    assert resolve_references(value, []) == value


@given(st.text(max_size=12))
def test_any_text_resolves_or_says_why(text):
    try:
        resolve_references({"$ref": text}, [{"a": [1]}])
    except UnresolvedReference as error:
        assert repr(text) in str(error)


@pytest.mark.parametrize("text", ["", "a", "1", "0.b", "0.a[1]", "0[0]", "0.a.b", "0..a", "0.a[x]", "0 .a", "-1"])
def test_what_is_not_there_is_refused(text):
    with pytest.raises(UnresolvedReference):
        resolve_references({"$ref": text}, [{"a": [1]}])


def test_only_the_exact_form_is_a_reference():
    assert is_reference({"$ref": "0.a"})
    assert not is_reference({"$ref": 0}) and not is_reference({"$ref": "0", "x": 1}) and not is_reference("0.a")
