"""The argument check agrees with a full JSON Schema validator on the subset that tools use."""

from __future__ import annotations

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.environment.runtime.schema import compile_schema

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, -1.5]) | st.sampled_from(["", "a", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
LEAVES = st.one_of(
    st.fixed_dictionaries({"type": st.just("integer")}, optional={"minimum": st.integers(-3, 3)}),
    st.fixed_dictionaries({"type": st.just("number")}, optional={"exclusiveMaximum": st.integers(-3, 3)}),
    st.fixed_dictionaries({"type": st.just("string")}, optional={"maxLength": st.integers(0, 3)}),
    st.fixed_dictionaries({"type": st.just("string"), "pattern": st.just("^a")}),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", "abc", 1, 0, True, None]), min_size=1)}),
    st.sampled_from([{"type": "boolean"}, {"type": ["string", "null"]}, {}, {"const": 1}]),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"minItems": st.integers(0, 2)}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)},
            optional={
                "required": st.lists(st.sampled_from("xyz"), unique=True, max_size=2),
                "additionalProperties": st.booleans(),
            },
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
    ),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(SCHEMAS, VALUES)
def test_it_agrees_with_a_full_validator(schema, value):
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    problem = compile_schema(schema)(value, "arguments")
    assert (problem == "") == expected
    assert problem == "" or problem.startswith("arguments")


def test_problems_say_where():
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}, "required": ["x"]}
    check = compile_schema(schema)
    assert check({"x": [1, "2"]}, "arguments") == "arguments.x[1] must be of type integer"
    assert check({}, "arguments") == "arguments.x is required"


def test_an_unknown_type_is_refused():
    with pytest.raises(KeyError):
        compile_schema({"type": "float"})
