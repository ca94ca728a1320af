"""States a world's business rules in plain words, and lets each rule cite where it is stated."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.database import Action, Rule, Table
from schemas.theme import Theme
from tasks.mining.workflows.nouns import stems

DOCUMENT = "policies.md"
"""The name of the document that states the rules."""

_DULL = set(stems("must many the and for with not one that this only may more than most least will its are has have"))
_SAME = {"seat": "plac", "fewer": "enough", "free": "left", "capacity": "left", "quota": "limit"}
"""Stems that stand for one another in rules."""
_STRONG = {"suspend": 2}
"""Stems that count for more than one."""


def cite(
    actions: Sequence[Action], headings: dict[str, str], theme: Theme, tables: Sequence[Table] = ()
) -> list[Action]:
    """Return the actions with each rule's `cites`: the policy document's heading, and the source's own sentence.

    A theme's sentence is cited only where it speaks of the action and shares telling words with the rule, so that
    most rules cite the policy document alone. The nouns of `tables` tell nothing: many rules have them.
    """
    nouns = {root for table in tables for root in stems(table.noun)}
    cited = []
    for action in actions:
        rules = []
        for rule in action.rules:
            places = [f"{DOCUMENT}#{headings[action.name]}"]
            sentence = source_sentence(action, rule, theme, nouns)
            if sentence:
                places.append(f'{theme.source_uri}: "{sentence}"')
            rules.append(rule.model_copy(update={"cites": "; ".join(places)}))
        cited.append(action.model_copy(update={"rules": tuple(rules)}))
    return cited


def source_sentence(action: Action, rule: Rule, theme: Theme, nouns: set[str]) -> str:
    """Return the sentence of the theme's rules that says what a rule says; '' if none surely does.

    It must name the action's verb or noun and share two telling words with the rule.
    """
    about = _roots(action.name)
    said = _roots(f"{rule.message} {rule.code}") - _DULL - about - nouns
    best, best_score = "", 0
    for sentence in theme.rules:
        theirs = _roots(sentence)
        shared, same = sum(_STRONG.get(root, 1) for root in said & theirs), len(about & theirs)
        if shared >= 2 and same >= 1 and 2 * shared + same > best_score:
            best, best_score = sentence, 2 * shared + same
    return best


def _roots(text: str) -> set[str]:
    return {_SAME.get(root, root) for root in stems(text)}


def render(
    name: str, theme: Theme, tables: Sequence[Table], actions: Sequence[Action], headings: dict[str, str], chosen: str
) -> str:
    """Return the Markdown text of the policy document; it names no tool and no column's code."""
    lines = [f"# Policies of {name}", "", theme.description.strip(), "", chosen, ""]
    for heading in dict.fromkeys(headings[action.name] for action in actions):
        lines += [f"## {heading}", ""]
        for action in (a for a in actions if headings[a.name] == heading):
            lines.append(f"- {action.description}{_states(action)}")
            lines += [f"  - {rule.message} ({_place(rule)})" for rule in action.rules]
        lines.append("")
    lines += ["## What is kept", ""]
    lines += [f"- {table.nouns}: {table.description}" for table in tables if table.description]
    return "\n".join(lines) + "\n"


def _states(action: Action) -> str:
    if action.kind != "transition":
        return ""
    before = " or ".join(state.replace("_", " ") for state in action.from_states)
    return f" Before, it is {before}; afterwards it is {action.to_state.replace('_', ' ')}."


def _place(rule: Rule) -> str:
    _, _, own = rule.cites.partition("; ")
    return f"source: {own}" if own else "house rule"
