"""Guessing answers without reading: what the distribution of answers over an environment's tasks gives away."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.base import canonical_json
from schemas.task import AnswerField
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.search_pool import QUOTED

GUESSABLE = 0.1
"""A task that changes nothing and whose whole answer is guessed with this chance is no task."""
_DOUBT = 2.0
"""Weight of an unknown value among the answers of sibling tasks."""

Answers = Mapping[str, Any]


class AnswerPrior:
    """What a guesser knows who has seen an environment's other tasks with their answers, and its data.

    A field's distribution is that of the answers of equally named fields in other tasks; a field named after a column
    is also guessed from that column's values, the end states of actions and two quoted names from the prompt. Counts
    are thought to be small as long as few others are known.
    """

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        self._seen: dict[str, Counter[str]] = defaultdict(Counter)
        self._values: dict[str, Any] = {}

    def add(self, fields: Sequence[AnswerField], answer: Answers) -> None:
        """Learn from one task."""
        for field in fields:
            text = canonical_json(answer.get(field.name))
            self._values[text] = answer.get(field.name)
            self._seen[_stem(field.name)][text] += 1

    def chance(self, fields: Sequence[AnswerField], answer: Answers, prompt: str, *, known: bool = False) -> float:
        """Return the chance that a guess of the whole answer is right, field by field and independent.

        Args:
            known: whether the task was added; its own answer is left out then.
        """
        chance = 1.0
        for field in fields:
            text = canonical_json(answer.get(field.name))
            seen = self._seen[_stem(field.name)]
            own = int(known)
            siblings = max(0, seen[text] - own) / max(1.0, sum(seen.values()) - own + _DOUBT)
            chance *= max(siblings, self._static(field, prompt).get(text, 0.0))
        return chance

    def guess(self, fields: Sequence[AnswerField], prompt: str) -> dict[str, Any]:
        """Return the most probable answer, without the task itself having been added."""
        found = {}
        for field in fields:
            seen = self._seen[_stem(field.name)]
            total = sum(seen.values()) + _DOUBT
            weights = {text: number / total for text, number in seen.items()}
            for text, chance in self._static(field, prompt).items():
                weights[text] = max(weights.get(text, 0.0), chance)
            empty = {"string": "", "integer": 1, "number": 0.0, "boolean": False, "array": []}[field.type]
            best = max(sorted(weights), key=lambda text: weights[text], default=canonical_json(empty))
            found[field.name] = self._values.get(best, empty)
        return found

    def _static(self, field: AnswerField, prompt: str) -> dict[str, float]:
        """Return value (as JSON) -> chance from what is known without sibling tasks."""
        if field.type == "boolean":
            return self._known({False: 0.5, True: 0.5})
        if field.type == "integer" and "count" in field.name:
            doubt = _DOUBT / (_DOUBT + sum(self._seen[_stem(field.name)].values()))
            return self._known({n: doubt * 0.5 ** (n + 1) for n in range(5)})
        found: dict[Any, float] = {}
        for table in self.atlas.tables.values():
            for column in table.columns:
                own = _stem(field.name) in (column.name, f"{table.noun.replace(' ', '_').lower()}_{column.name}")
                if not own or column.type == "boolean" or not self.atlas.rows[table.name]:
                    continue
                values = Counter(
                    row[column.name] for row in self.atlas.rows[table.name] if row[column.name] is not None
                )
                for value, number in values.most_common(20):
                    found[value] = max(found.get(value, 0.0), number / len(self.atlas.rows[table.name]))
        if field.type == "string":
            said = QUOTED.findall(prompt)
            for action in self.atlas.actions.values():
                if action.to_state and field.name.endswith("status") and re.search(rf"\b{action.verb}", prompt):
                    found[action.to_state] = max(found.get(action.to_state, 0.0), 0.5)
            if "winner" in field.name and said:
                found |= {text: 0.5 for text in said[:2]}
        return self._known(found)

    def _known(self, found: Mapping[Any, float]) -> dict[str, float]:
        texts = {canonical_json(value): chance for value, chance in found.items()}
        self._values |= {canonical_json(value): value for value in found}
        return texts


def _stem(name: str) -> str:
    return re.sub(r"_\d+$", "", name)
