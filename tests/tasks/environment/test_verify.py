"""The verifier: the right outcome passes under any names of minted keys, every mutant of it fails."""

from __future__ import annotations

from itertools import islice
from time import process_time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from schemas.task import AnswerField, Change, Verifier
from tasks.environment import shaped_reward, verify
from tasks.environment.matching import equal_values, renamings

QUICK = settings(max_examples=50, deadline=None)
KEYS = st.integers(1, 10**6).map(lambda n: f"new-{n}")


def insert(table: str, key, **cells) -> Change:
    return Change(table=table, operation="insert", key=key, after={"id": key, **cells})


def update(table: str, key, before: dict, after: dict) -> Change:
    return Change(table=table, operation="update", key=key, before={"id": key} | before, after={"id": key} | after)


def outcome(order, line_a, line_b, twin_a, twin_b):
    """An order with two lines, two rows that are alike, and an old row that points to the order."""
    changes = (
        insert("orders", order, customer="cus-1", total=30.0),
        insert("lines", line_a, order=order, product="prd-1", quantity=1),
        insert("lines", line_b, order=order, product="prd-2", quantity=1),
        insert("notes", twin_a, text="same"),
        insert("notes", twin_b, text="same"),
        update("customers", "cus-1", {"last_order": None}, {"last_order": order}),
    )
    return changes, {"order": order, "lines": [line_a, line_b], "note": twin_a, "total": 30}


FIELDS = (
    AnswerField(name="order", type="string"),
    AnswerField(name="lines", type="array", unordered=True),
    AnswerField(name="note", type="string"),
    AnswerField(name="total", type="number", tolerance=0.01),
)
CHANGES, ANSWER = outcome("ord-x", "lin-a", "lin-b", "not-a", "not-b")
VERIFIER = Verifier(answer=FIELDS, expected_answer=ANSWER, expected_changes=CHANGES)


@QUICK
@given(st.lists(KEYS, min_size=5, max_size=5, unique=True), st.permutations(range(6)))
def test_any_names_of_minted_keys_pass(keys, order):
    changes, answer = outcome(*keys)
    assert verify(VERIFIER, answer, [changes[i] for i in order]).success
    assert verify(VERIFIER, answer | {"note": keys[4], "lines": [keys[2], keys[1]]}, changes).success


@QUICK
@given(st.integers(0, 5), st.lists(KEYS, min_size=6, max_size=6, unique=True))
def test_mutants_fail(index, keys):
    changes, answer = outcome(*keys[:5])
    dropped = changes[:index] + changes[index + 1 :]
    verdict = verify(VERIFIER, answer, dropped)
    assert not verdict.success and not verdict.checks["state"] and verdict.reward == 0.0
    assert not verify(VERIFIER, answer, [*changes, insert("notes", keys[5], text="same")]).success
    assert not verify(VERIFIER, answer, [*changes, changes[index]]).success
    assert not verify(VERIFIER, answer, ()).success


def test_names_must_be_the_same_wherever_the_row_is_meant():
    changes, answer = outcome("o", "a", "b", "c", "d")
    crossed = [*changes[:1], insert("lines", "a", order="b", product="prd-1", quantity=1), *changes[2:]]
    assert not verify(VERIFIER, answer, crossed).checks["state"]
    for wrong in ({"order": "a"}, {"order": "ord-x"}, {"lines": ["a", "c"]}, {"lines": ["a", "a"]}, {"note": "b"}):
        verdict = verify(VERIFIER, answer | wrong, changes)
        assert verdict.checks["state"] and not verdict.success
        assert [name for name, held in verdict.checks.items() if not held] == [f"answer.{next(iter(wrong))}"]


def test_integer_keys_are_renamed_too():
    verifier = Verifier(
        answer=(AnswerField(name="id", type="integer"),),
        expected_answer={"id": 7},
        expected_changes=(insert("a", 7, n=7), insert("b", 1, a=7)),
    )
    assert verify(verifier, {"id": 9}, (insert("a", 9, n=7), insert("b", 1, a=9))).success
    assert not verify(verifier, {"id": 9}, (insert("a", 9, n=7), insert("b", 1, a=8))).success
    assert not verify(verifier, {"id": 8}, (insert("a", 9, n=7), insert("b", 1, a=9))).success


def test_ignored_columns_and_rounding_do_not_count():
    verifier = Verifier(
        answer=(),
        expected_answer={},
        ignore_columns=("t.at",),
        expected_changes=(update("t", "k", {"at": 1, "x": 0}, {"at": 2, "x": 0.3}),),
    )
    assert verify(verifier, {}, (update("t", "k", {"at": 5, "x": 0}, {"at": 9, "x": 0.1 + 0.2}),)).success
    assert not verify(verifier, {}, (update("t", "k", {"at": 5, "x": 0}, {"at": 9, "x": 0.31}),)).success
    touched = update("t", "other", {"at": 1, "x": 0}, {"at": 2, "x": 0})
    assert verify(verifier, {}, (*verifier.expected_changes, touched)).success


@pytest.mark.parametrize(
    ("kind", "expected", "right", "wrong"),
    [
        ("integer", 3, [3], ["3", 3.5, 3.0, True, None, [3], 4]),
        ("integer", 1, [1], [True, "1"]),
        ("number", 3, [3, 3.0], ["3", True, None, 3.1, float("nan"), float("inf"), 10**400]),
        ("number", 0.3, [0.3, 0.1 + 0.2], [0.31, "0.3"]),
        ("string", "a", ["a"], ["A", "a ", ["a"], None, 1]),
        ("boolean", True, [True], [1, "true", False, None]),
        ("boolean", False, [False], [0, None, ""]),
        ("array", ["a", 1], [["a", 1], ("a", 1.0)], [["a"], [1, "a"], ["a", True], ["a", "1"], "a1", {"a": 1}]),
        ("string", None, [None], ["", "None", 0]),
    ],
)  # fmt: skip
def test_types_are_strict(kind, expected, right, wrong):
    verifier = Verifier(answer=(AnswerField(name="x", type=kind),), expected_answer={"x": expected})
    assert all(verify(verifier, {"x": value}, ()).success for value in right)
    assert not any(verify(verifier, {"x": value}, ()).success for value in wrong)


@QUICK
@given(st.lists(st.floats(-100, 100), max_size=8), st.randoms(use_true_random=False))
def test_unordered_arrays_are_multisets_within_tolerance(values, random):
    field = AnswerField(name="x", type="array", unordered=True, tolerance=0.5)
    verifier = Verifier(answer=(field,), expected_answer={"x": values})
    near = [value + random.uniform(-0.49, 0.49) for value in values]
    random.shuffle(near)
    assert verify(verifier, {"x": near}, ()).success
    assert not verify(verifier, {"x": [*near, 0.0]}, ()).success
    if near:
        assert not verify(verifier, {"x": [*near[1:], 1000.0]}, ()).success


@QUICK
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.sampled_from("abc"))
def test_ordered_arrays_are_in_order(values, other):
    field = AnswerField(name="x", type="array")
    assume(values != values[::-1])
    verifier = Verifier(answer=(field,), expected_answer={"x": values})
    assert verify(verifier, {"x": values}, ()).success
    assert not verify(verifier, {"x": values[::-1]}, ()).success
    assert not verify(verifier, {"x": [*values, other]}, ()).success


@QUICK
@given(st.dictionaries(st.sampled_from(["x", "y", "z", ""]), st.integers() | st.text(max_size=3) | st.none()))
def test_only_the_exact_fields_are_the_format(answer):
    fields = (AnswerField(name="x", type="integer"), AnswerField(name="y", type="string"))
    verifier = Verifier(answer=fields, expected_answer={"x": 1, "y": "a"})
    verdict = verify(verifier, answer, ())
    assert verdict.checks["format"] == (set(answer) == {"x", "y"})
    assert verdict.success == (answer == {"x": 1, "y": "a"} and not isinstance(answer["x"], bool))
    assert not verify(verifier, None, ()).success


def test_alike_inserts_that_nothing_names_are_not_permuted():
    alike = tuple(insert("notes", f"not-{n}", text="same") for n in range(9))
    change = update("orders", "ord-1", {"status": "open"}, {"status": "shipped"})
    other = update("orders", "ord-1", {"status": "open"}, {"status": "lost"})
    assert len(list(islice(renamings((*alike, change), (*alike, change)), 3))) == 3  # there are many, none of them ...
    verifier = Verifier(answer=FIELDS[3:], expected_answer={"total": 30}, expected_changes=(*alike, change))
    begun = process_time()
    for _ in range(20):
        assert not verify(verifier, {"total": 31}, (*alike, change)).success  # ... changes what the answer must be
        assert list(renamings((*alike, change), (*alike, other))) == []
        assert not verify(verifier, {"total": 30}, (*alike, other)).checks["state"]
    assert process_time() - begun < 1.0


def test_many_alike_inserts_end_soon():
    wanted = [insert("t", f"k{i}", link=f"k{(i + 1) % 9}") for i in range(9)]
    found = [insert("t", f"n{i}", link=f"n{(i * 2 + 1) % 9}") for i in range(9)]
    verifier = Verifier(answer=(), expected_answer={}, expected_changes=tuple(wanted))
    assert not verify(verifier, {}, found).checks["state"]


@QUICK
@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 20), st.sampled_from([None, {}, {"x": 0}, {"z": 1}]))
def test_no_wrong_episode_outscores_a_right_one(calls, other_calls, oracle_calls, wrong):
    verifier = Verifier(answer=(AnswerField(name="x", type="integer"),), expected_answer={"x": 1})
    right = shaped_reward(verify(verifier, {"x": 1}, ()), calls, oracle_calls)
    assert 0.9 <= right <= 1.0 and (right == 1.0) == (calls <= oracle_calls)
    assert 0.0 <= shaped_reward(verify(verifier, wrong, ()), other_calls, oracle_calls) <= 0.05


def test_large_integers_are_compared_exactly():
    assert not equal_values(1_411_778_724, 1_411_778_725, {})
    assert equal_values(1_411_778_724, 1_411_778_724.0, {})
    assert equal_values(0.1 + 0.2, 0.3, {})
