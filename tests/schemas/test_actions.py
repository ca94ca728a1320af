"""The check of actions finds names and types that do not fit."""

from __future__ import annotations

import pytest
from worlds import shop_database

from schemas.actions import check_actions
from schemas.database import Action, Effect, Rule

BASE = shop_database()


def changed(action: Action, **update) -> list[str]:
    return check_actions(BASE.model_copy(update={"actions": (action.model_copy(update=update),)}))


def rule(path: str, operator: str, value) -> tuple[Rule, ...]:
    return (Rule(path=path, operator=operator, value=value, code="NO", message="no"),)


def effect(path: str, operation: str, value) -> tuple[Effect, ...]:
    return (Effect(path=path, operation=operation, value=value),)


def test_the_example_world_is_sound() -> None:
    assert BASE.actions and check_actions(BASE) == []


@pytest.mark.parametrize(
    ("update", "complaint"),
    [
        ({"table": "nothing"}, "no table"),
        ({"status_column": "colour"}, "no column"),
        ({"from_states": ("asleep",)}, "asleep"),
        ({"from_states": ()}, "states that it may start from"),
        ({"rules": rule("colour", "==", "red")}, "colour"),
        ({"rules": rule("status", "in", "pending")}, "list"),
        ({"rules": rule("status", "==", 5)}, "compared with 5"),
        ({"rules": rule("status.name", "==", "x")}, "no reference"),
        ({"effects": effect("status", "add", 1)}, "cannot add"),
        ({"effects": effect("status", "set", "$nothing")}, "nothing"),
        ({"effects": effect("status", "set", "asleep")}, "does not fit"),
        ({"name": "Cancel"}, "snake case"),
    ],
)
def test_what_does_not_fit_is_named(update: dict, complaint: str) -> None:
    transition = next(action for action in BASE.actions if action.kind == "transition")
    assert any(complaint in line for line in changed(transition, **update)), changed(transition, **update)


def test_a_create_must_fill_all_required_columns() -> None:
    create = next(action for action in BASE.actions if action.kind == "create")
    assert any("required column" in line for line in changed(create, parameters=()))


def test_a_name_is_used_once() -> None:
    twice = BASE.model_copy(update={"actions": BASE.actions[:1] * 2})
    assert any("used twice" in line for line in check_actions(twice))
