"""States a world's business rules in plain words, and lets each rule cite where it is stated."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.database import Action, Rule, Table
from schemas.theme import Theme
from tasks.mining.workflows.nouns import stems

DOCUMENT = "policies.md"
"""The name of the document that states the rules."""

_DULL = set(stems("must the and for with not one that this only may more than most least will its are has have been"))
_LEAST_SHARED = 2
"""A sentence of the source is cited for a rule if it shares as many telling words with it."""


def cite(actions: Sequence[Action], headings: dict[str, str], theme: Theme) -> list[Action]:
    """Return the actions with each rule's `cites`: the policy document's heading, and the source's own sentence.

    A theme's sentence is cited where it shares the action's verb or noun and at least two telling words with the rule.
    """
    cited = []
    for action in actions:
        rules = []
        for rule in action.rules:
            places = [f"{DOCUMENT}#{headings[action.name]}"]
            sentence = source_sentence(action, rule, theme)
            if sentence:
                places.append(f'{theme.source_uri}: "{sentence}"')
            rules.append(rule.model_copy(update={"cites": "; ".join(places)}))
        cited.append(action.model_copy(update={"rules": tuple(rules)}))
    return cited


def source_sentence(action: Action, rule: Rule, theme: Theme) -> str:
    """Return the sentence of the theme's rules that says most clearly what a rule says; '' if none does."""
    about = set(stems(action.name))
    said = (set(stems(f"{rule.message} {rule.code}")) | about) - _DULL
    best, best_score = "", 0
    for sentence in theme.rules:
        theirs = set(stems(sentence)) - _DULL
        shared = (said & theirs) - about
        score = len(shared) + len(about & theirs)
        if len(shared) >= _LEAST_SHARED and about & theirs and score > best_score:
            best, best_score = sentence, score
    return best


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
