"""How the pointer policy reads prompts, tools and observations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.task import AnswerField
from tasks.policies.pointer.labels import same
from tasks.policies.pointer.observations import observation_units
from tasks.policies.pointer.prompts import text_units
from tasks.policies.pointer.session import MAX_UNITS, Session
from tasks.policies.pointer.units import NOTHING, OMIT, Kind, cast
from tasks.policies.pointer.words import stem, value_key, words_of
from tasks.rollout import ToolSignature

TOOLS = (
    ToolSignature(
        "search_orders", "Find orders.",
        {"type": "object", "properties": {"status": {"type": "string", "enum": ["open", "in_transit"]},
                                          "customer_id": {"type": "string"}, "limit": {"type": "integer"}}}, "search",
    ),
    ToolSignature(
        "cancel_order", "Cancel one.",
        {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}, "transition",
    ),
)  # fmt: skip
FIELDS = (AnswerField(name="total", type="integer"),)


@pytest.mark.parametrize(
    ("left", "right"), [("orders", "order"), ("Cancelled", "cancel"), ("shipping", "ship"), ("categories", "category")]
)
def test_forms_of_a_word_meet(left: str, right: str) -> None:
    assert stem(left) == stem(right)


def test_names_are_cut_and_codes_stay_whole() -> None:
    assert words_of("customer_id") == ("customer", "id")
    assert words_of("minUnitPrice") == ("min", "unit", "pric")
    assert words_of("ord-7k2m9x") == ("ord-7k2m9x",)


def test_quoted_spans_and_names_are_one_value() -> None:
    units, _ = text_units('Ask Ada Lovelace about "Brio lamp, 2nd" today.', Kind.PROMPT)
    values = [unit.value for unit in units]
    assert "Brio lamp, 2nd" in values and "Ada Lovelace" in values and "today" in values


@given(st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6).map(lambda x: round(x, 2))))
def test_numbers_meet_their_text(number: float) -> None:
    assert value_key(number) == value_key(str(number))
    assert cast(str(number), Kind.PROMPT, "number") == number


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x, max_size=3)))
def test_values_equal_themselves_and_types_keep_apart(value) -> None:
    assert same(value, value)
    assert not same(True, 1) and not same("1", 1)


def test_rows_are_ranked_and_cut() -> None:
    rows = [{"order_id": f"ord-{n}a", "price": float(n)} for n in range(30)]
    units, cut = observation_units("search_orders", {}, {"orders": rows, "total": 30}, 1, [4.0], {"4"}, room=18)
    assert cut == 3 and len(units) == 18
    prices = [unit for unit in units if unit.column.endswith(".price")]
    assert [unit.value for unit in prices if unit.numbers[1]] == [0.0]
    assert [unit.value for unit in prices if unit.numbers[5]] == [4.0]


def test_decisions_offer_what_the_schema_allows() -> None:
    session = Session('Cancel the order "ord-1a", in transit.', TOOLS, FIELDS)
    assert session.decide().values == ["search_orders", "cancel_order", None]
    status, customer, limit = session.arguments("search_orders")
    assert status.values == ["open", "in_transit", OMIT]
    assert "ord-1a" in customer.values and OMIT in customer.values
    assert all(value is OMIT or isinstance(value, int) for value in limit.values)
    session.record("search_orders", {"status": "open"}, {"orders": [{"order_id": "ord-1a"}], "total": 1})
    session.decide()
    (order,) = session.arguments("cancel_order")
    assert OMIT not in order.values and order.values.count("ord-1a") == 2


def test_sessions_stay_within_their_room() -> None:
    session = Session("Do it.", TOOLS, FIELDS)
    rows = [{"order_id": f"ord-{n}a", **{f"c{k}": n for k in range(9)}} for n in range(20)]
    while not session.full:
        session.decide()
        session.arguments("search_orders")
        session.record("search_orders", {}, {"orders": rows, "total": 20})
    session.decide()
    session.answer()
    assert len(session.columns) <= MAX_UNITS and session.truncated > 0


def test_values_of_another_type_cannot_be_pointed_at() -> None:
    assert cast(5, Kind.OBSERVED, "string") is NOTHING
    assert cast("five", Kind.PROMPT, "integer") is NOTHING
    assert cast(5.0, Kind.OBSERVED, "integer") == 5
