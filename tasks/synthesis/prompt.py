"""Write the prompt of a chain: rows by label or properties, no tool names, literal values in quotes."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from schemas.task import AnswerField
from tasks.synthesis.atlas import Atlas, words
from tasks.synthesis.draft import Ask, Condition, Draft, Sentence
from tasks.synthesis.phrases import Phrasing, choose, listing, literal, tidy, undoubled

EXTREMES = {
    (False, True): ("highest", "largest", "greatest"),
    (False, False): ("lowest", "smallest", "least"),
    (True, True): ("latest", "most recent"),
    (True, False): ("earliest", "oldest"),
}
"""(is a date, descending) -> the words of a superlative."""


class Speaker:
    """Renders conditions and values of one environment in one register of phrasings."""

    def __init__(self, atlas: Atlas, rng: random.Random, phrasing: Phrasing = "train") -> None:
        self.atlas, self.rng, self.phrasing = atlas, rng, phrasing

    def say(self, kind: str, **values: Any) -> str:
        """Return one phrasing of a kind."""
        return choose(self.rng, kind, self.phrasing, **values)

    def condition(self, table: str, condition: Condition) -> str:
        """Return a condition with a stated value: `with status "pending"`."""
        column = self.atlas.column(f"{table}.{condition.column}")
        value = condition.value
        if column is not None and column.type == "boolean":
            value = bool(value)
        kind = f"where_{condition.operator}"
        if column is not None and column.type in ("date", "datetime"):
            kind = {"where_at_least": "where_since", "where_at_most": "where_until"}.get(kind, kind)
        return self.say(kind, column=words(condition.column), value=literal(value))

    def owned(self, table: str, column: str, owner: str) -> str:
        """Return a condition that ties rows to another row: `of that customer`, `with it as the origin airport`."""
        target = self.atlas.column(f"{table}.{column}")
        noun = self.atlas.tables[target.references.partition(".")[0]].noun if target is not None else ""
        relation = stem(column)
        if relation == noun:
            return self.say("where_of", owner=owner)
        return self.say("where_role", owner=owner, relation=relation)

    def extreme(self, table: str, column: str, descending: bool) -> str:
        """Return the word of a superlative: highest, earliest ..."""
        found = self.atlas.column(f"{table}.{column}")
        return self.rng.choice(EXTREMES[found is not None and found.type in ("date", "datetime"), descending])

    def reply(self, fields: Sequence[tuple[str, str]]) -> str:
        """Return the sentence that says which answer fields are wanted, from (name, meaning) pairs."""
        style = self.say("field", name="{name}", meaning="{meaning}")
        parts = [style.replace("{name}", f'"{name}"').replace("{meaning}", meaning) for name, meaning in fields]
        return self.say("reply", fields=listing(parts))

    def frame(self, sentences: Sequence[str]) -> str:
        """Return the whole prompt: an opening, the sentences, a closing."""
        parts = [self.say("opening"), *sentences, self.say("closing")]
        return tidy(" ".join(part for part in parts if part))


def stem(column: str) -> str:
    """Return what a reference column points to, in words: `origin_airport_id` -> `origin airport`."""
    return words(re.sub(r"_(id|key|code|number|no|ref)$", "", column))


def relation(column: str) -> str:
    """Return what a reference is to a record, in words: `from_account_id` -> `source account`; else its stem."""
    text = stem(column)
    return re.sub(r"^(from|to) ", lambda found: {"from ": "source ", "to ": "target "}[found.group()], text)


def chain_prompt(draft: Draft, rng: random.Random, phrasing: Phrasing) -> tuple[str, tuple[AnswerField, ...]]:
    """Return the prompt of a pruned chain and its answer fields."""
    return _Narrator(draft, Speaker(draft.atlas, rng, phrasing)).tell()


class _Narrator:
    """Tells one chain; remembers which rows the prompt has introduced."""

    def __init__(self, draft: Draft, speaker: Speaker) -> None:
        self.draft, self.speaker, self.rng = draft, speaker, speaker.rng
        self.introduced: list[int] = []
        self.inline: set[int] = set()

    def tell(self) -> tuple[str, tuple[AnswerField, ...]]:
        """Return the prompt and the answer fields."""
        self._choose_inline()
        lines: list[str] = []
        for sentence in self.draft.sentences:
            if (line := self._sentence(sentence, bool(lines))) is not None:
                lines.append(line)
        names = _unique([field_name(ask.name) for ask in self.draft.asks])
        fields, described = [], []
        for name, ask in zip(names, self.draft.asks, strict=True):
            meaning = self._meaning(ask)
            described.append((name, meaning))
            fields.append(AnswerField(name=name, type=self._type(ask), description=meaning, tolerance=self._slack(ask)))
        lines.append(self.speaker.reply(described))
        return self.speaker.frame(lines), tuple(fields)

    def _choose_inline(self) -> None:
        """Choose the rows that get no sentence of their own but stand inside the sentence that needs them."""
        for sentence in self.draft.sentences:
            if sentence.kind == "find" and sentence.pick is not None and self.rng.random() < 0.5:
                mention = self.draft.picks[sentence.pick].mention
                if len(mention.conditions) > 1:
                    continue  # too much for a noun phrase inside another sentence
                owners = {condition.of for condition in mention.conditions} | {mention.of}
                if not owners & self.inline:
                    self.inline.add(sentence.pick)

    def _sentence(self, sentence: Sentence, later: bool) -> str | None:
        say = self.speaker.say
        if sentence.kind == "find" and sentence.pick is not None:
            if sentence.pick in self.inline or sentence.pick in self.introduced:
                return None
            return say("find_next" if later else "find", row=self.row(sentence.pick))
        if sentence.kind == "transition" and sentence.pick is not None:
            return say("transition", verb=sentence.verb, row=self.row(sentence.pick))
        if sentence.kind == "update" and sentence.pick is not None:
            return say("update", row=self.row(sentence.pick), values=self._values(sentence))
        if sentence.kind == "create" and sentence.pick is not None:
            noun = self.draft.atlas.tables[sentence.table].noun
            details = self._details(sentence)
            self.introduced.append(sentence.pick)
            return say("create", verb=sentence.verb, noun=noun, details=details)
        return None

    def _values(self, sentence: Sentence) -> str:
        line = self.speaker.say("value_to", column="{column}", value="{value}")
        parts = []
        for name, value in sentence.values:
            text = literal(self._plain(sentence.table, name, value))
            parts.append(line.replace("{column}", words(name)).replace("{value}", text))
        return listing(parts)

    def _details(self, sentence: Sentence) -> str:
        parts = []
        for relation in sentence.relations:
            owner = self.owner(relation)
            column = self.draft.atlas.column(f"{sentence.table}.{relation.column}")
            noun = self.draft.atlas.tables[column.references.partition(".")[0]].noun if column is not None else ""
            name = stem(relation.column)
            parts.append(f"for {owner}" if name == noun else f"with {owner} as the {name}")
        for name, value in sentence.values:
            text = literal(self._plain(sentence.table, name, value))
            parts.append(self.speaker.say("create_value", column=words(name), value=text))
        return listing(parts)

    def _plain(self, table: str, name: str, value: Any) -> Any:
        column = self.draft.atlas.column(f"{table}.{name}")
        return bool(value) if column is not None and column.type == "boolean" else value

    def owner(self, condition: Condition) -> str:
        """Return the noun phrase of the row that a condition relates to."""
        assert condition.of is not None
        if not condition.via:
            return self.row(condition.of)
        return self.speaker.say("row_reference", relation=stem(condition.via), owner=self.row(condition.of))

    def row(self, number: int) -> str:
        """Return the noun phrase of a picked row: in full the first time, short after that."""
        number = self.draft.origin(number)
        pick = self.draft.picks[number]
        table = self.draft.atlas.tables[pick.table]
        if number in self.introduced:
            return self._again(number, table.noun)
        mention, say = pick.mention, self.speaker.say
        if mention.how == "label":
            text = say("row_label", noun=table.noun, value=literal(mention.value))
        elif mention.how == "key":
            text = say("row_key", noun=table.noun, key=words(table.key), value=literal(mention.value))
        elif mention.how == "reference":
            assert mention.of is not None
            text = say("row_reference", relation=stem(mention.via), owner=self.row(mention.of))
        elif mention.how == "created":
            text = say("row_created", noun=table.noun)
        else:
            conditions = self.conditions(pick.table, mention.conditions)
            if mention.order is None:
                text = say("row_unique", noun=table.noun, conditions=conditions)
            else:
                column, descending = mention.order
                text = say(
                    "row_superlative", noun=table.noun, nouns=table.nouns, conditions=conditions,
                    column=words(column), extreme=self.speaker.extreme(pick.table, column, descending),
                )  # fmt: skip
        self.introduced.append(number)
        return text

    def _again(self, number: int, noun: str) -> str:
        pick = self.draft.picks[number]
        peers = [n for n in self.introduced if self.draft.picks[n].table == pick.table]
        if pick.mention.how == "created":
            return self.speaker.say("row_created", noun=noun)
        if pick.mention.how == "label" and (len(peers) > 1 or self.rng.random() < 0.3):
            return self.speaker.say("row_label", noun=noun, value=literal(pick.mention.value))
        if len(peers) > 1:
            ordinal = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")[min(peers.index(number), 6)]
            return f"the {ordinal} {noun}"
        return self.speaker.say("row_again", noun=noun)

    def conditions(self, table: str, conditions: Sequence[Condition]) -> str:
        """Return conditions, each once, as one phrase."""
        parts = []
        for condition in sorted(dict.fromkeys(conditions), key=lambda c: c.of is None):
            if condition.of is None:
                parts.append(self.speaker.condition(table, condition))
            else:
                parts.append(self.speaker.owned(table, condition.column, self.owner(condition)))
        return listing(list(dict.fromkeys(parts))) if parts else ""

    def _meaning(self, ask: Ask) -> str:
        if ask.sentence is not None:
            sentence = self.draft.sentences[ask.sentence]
            table = self.draft.atlas.tables[sentence.table]
            conditions = self.conditions(sentence.table, sentence.relations)
            kind, column = sentence.statistic
            text = self.speaker.say(f"field_{kind}", nouns=table.nouns, conditions="{}", column=words(column))
            return undoubled(text.replace("{}", conditions)).strip()
        assert ask.pick is not None
        kind = "field_fresh" if ask.fresh else "field_value"
        return self.speaker.say(kind, column=words(ask.column), row=self.row(ask.pick))

    def _type(self, ask: Ask) -> Any:
        statistic, column = ("", ask.column)
        table = self.draft.picks[ask.pick].table if ask.pick is not None else ""
        if ask.sentence is not None:
            statistic, column = self.draft.sentences[ask.sentence].statistic
            table = self.draft.sentences[ask.sentence].table
        if statistic == "count":
            return "integer"
        if statistic == "average":
            return "number"
        tool = self.draft.atlas.tools[self.draft.calls[ask.step].tool]
        if statistic and any(field.path == ask.reference and field.type == "number" for field in tool.outputs):
            return "number"
        found = self.draft.atlas.column(f"{table}.{column}")
        kind = found.type if found is not None else "string"
        return kind if kind in ("integer", "number", "boolean") else "string"

    def _slack(self, ask: Ask) -> float:
        return 0.01 if self._type(ask) == "number" else 0.0


def field_name(text: str) -> str:
    """Return a snake case name for an answer field."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "value"


def _unique(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found
