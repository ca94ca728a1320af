"""Short constructors of actions, so that an archetype reads like its business rules."""

from __future__ import annotations

from schemas.base import Scalar
from schemas.database import Action, Effect, Rule
from tasks.mining.workflows.nouns import Noun


def rule(path: str, operator: str, value: Scalar | tuple[Scalar, ...], code: str, message: str) -> Rule:
    """Return a guard; the place that it cites is filled in when the world's policy document is written."""
    return Rule(path=path, operator=operator, value=value, code=code, message=message)  # type: ignore[arg-type]


def active(noun: Noun) -> Rule:
    """Return the guard that the person concerned is active."""
    code = f"{noun.snake.upper()}_NOT_ACTIVE"
    return rule(f"{noun.key}.status", "==", "active", code, f"The {noun} must be active, not suspended.")


def add(path: str, value: Scalar) -> Effect:
    """Return an effect that adds to a number."""
    return Effect(path=path, operation="add", value=value)


def put(path: str, value: Scalar) -> Effect:
    """Return an effect that sets a column."""
    return Effect(path=path, operation="set", value=value)


def create(
    noun: Noun,
    verb: str,
    description: str,
    parameters: tuple[str, ...],
    initial: dict[str, Scalar],
    rules: tuple[Rule, ...] = (),
    effects: tuple[Effect, ...] = (),
) -> Action:
    """Return the action VERB_NOUN that makes a row."""
    return Action(
        name=f"{verb}_{noun.snake}",
        verb=verb,
        kind="create",
        table=noun.table,
        description=description,
        parameters=parameters,
        initial=initial,
        rules=rules,
        effects=effects,
    )


def move(
    noun: Noun,
    verb: str,
    states: str,
    description: str,
    rules: tuple[Rule, ...] = (),
    effects: tuple[Effect, ...] = (),
) -> Action:
    """Return the action VERB_NOUN that moves a row's status; `states` reads 'pending, confirmed -> cancelled'."""
    before, _, after = states.partition("->")
    return Action(
        name=f"{verb}_{noun.snake}",
        verb=verb,
        kind="transition",
        table=noun.table,
        description=description,
        status_column="status",
        from_states=tuple(s.strip() for s in before.split(",")),
        to_state=after.strip(),
        rules=rules,
        effects=effects,
    )


def change(
    noun: Noun,
    verb: str,
    what: str,
    description: str,
    parameters: tuple[str, ...],
    rules: tuple[Rule, ...] = (),
    effects: tuple[Effect, ...] = (),
) -> Action:
    """Return the action VERB_NOUN_WHAT that gives columns new values."""
    return Action(
        name="_".join(part for part in (verb, noun.snake, what) if part),
        verb=verb,
        kind="update",
        table=noun.table,
        description=description,
        parameters=parameters,
        rules=rules,
        effects=effects,
    )


def suspend(noun: Noun, why: str) -> tuple[Action, Action]:
    """Return the two actions that suspend a person and lift the suspension."""
    return (
        move(noun, "suspend", "active -> suspended", f"Suspend {noun.a} {why}."),
        move(noun, "reinstate", "suspended -> active", f"Lift the suspension of {noun.a}."),
    )
