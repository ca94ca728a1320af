"""Tell a playbook in one of several registers: its records, its rules in order, what to mind, what to report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schemas.database import Table
from schemas.task import AnswerField
from tasks.synthesis.atlas import words
from tasks.synthesis.long.desk import Desk
from tasks.synthesis.long.playbook import Case, Given, Move, Named, Playbook, Stat, Test
from tasks.synthesis.long.script import topics
from tasks.synthesis.phrases import lay_out, listing, literal
from tasks.synthesis.prompt import relation

REGISTERS = ("ticket", "email", "chat", "order", "voice")
WRITERS = ("Mara", "Joonas", "Ines", "Teo", "Sanne", "Ravi", "Ewa", "Colin", "Yuki", "Amadou")


def tell(desk: Desk, playbook: Playbook) -> tuple[str, tuple[AnswerField, ...]]:
    """Return the prompt of a playbook and its answer fields."""
    return _Teller(desk, playbook).tell()


class _Teller:
    def __init__(self, desk: Desk, playbook: Playbook) -> None:
        self.desk, self.playbook, self.kit, self.rng = desk, playbook, desk.kit, desk.rng
        self.table, self.say = playbook.table, desk.kit.speaker.say

    def tell(self) -> tuple[str, tuple[AnswerField, ...]]:
        fields = tuple(self._field(stat) for stat in self.playbook.stats)
        text = lay_out(
            self.rng,
            self.rng.choice(REGISTERS),
            self.kit.speaker.phrasing,
            nouns=self.table.nouns,
            scope=self._scope(),
            rules=self._rules(),
            notes=self._notes(),
            reply=self.kit.speaker.reply([(field.name, field.description) for field in fields]),
            who=self.rng.choice(WRITERS),
        )
        return text, fields

    def _scope(self) -> str:
        return self.say(
            "long_scope", noun=self.table.noun, nouns=self.table.nouns,
            conditions=self._conditions(self.playbook.tests, self.playbook.owners),
        )  # fmt: skip

    def _rules(self) -> list[str]:
        playbook, rules = self.playbook, []
        if playbook.careful:
            return [self.say("long_careful", noun=self.table.noun, verb=_verb(playbook.cases[0]))]
        if playbook.family == "pipeline":
            longest = max(playbook.cases, key=lambda case: len(case.moves)).moves
            steps = [f'"{move.action.verb}"' for move in longest]
            state = literal(longest[-1].action.to_state)
            rules.append(self.say("long_pipeline", noun=self.table.noun, nouns=self.table.nouns, state=state,
                                  steps=listing(steps)))  # fmt: skip
        else:
            rules += [self._case(number, case) for number, case in enumerate(playbook.cases)]
            if len([case for case in playbook.cases if case.tests]) > 1:
                rules.append(self.say("long_first", noun=self.table.noun))
        return rules

    def _case(self, number: int, case: Case) -> str:
        values = {"noun": self.table.noun, "nouns": self.table.nouns}
        if case.exception:
            return self.say("long_except", conditions=self._conditions(case.tests), **values)
        if not case.moves:
            return self.say("long_leave", **values)
        act = self._act(case.moves)
        if not case.tests:
            return self.say("long_rest" if number else "long_all", act=act, **values)
        return self.say("long_case", conditions=self._conditions(case.tests), act=act, **values)

    def _notes(self) -> list[str]:
        playbook, notes = self.playbook, []
        if playbook.order is not None:
            column, descending = playbook.order
            extreme = self.kit.speaker.extreme(self.table.name, column, descending)
            notes.append(self.say("long_order", noun=self.table.noun, column=words(column), extreme=extreme))
        if playbook.cap is not None:
            cap = playbook.cap
            notes.append(
                self.say(
                    "long_cap", noun=self.table.noun, measure=words(cap.measure), 
                    limit=self._value(cap.limit, cap.topic),
                    per=f" for each {self._thing(cap.per)}" if cap.per else "", verb=_verb(playbook.cases[cap.case]),
                )
            )  # fmt: skip
        seen: list[tuple[Move, ...]] = []
        for case in playbook.cases:
            if case.instead is None or not case.moves or case.instead in seen:
                continue
            seen.append(case.instead)
            kind = "long_refused_else" if case.instead else "long_refused_leave"
            act = self._act(case.instead) if case.instead else ""
            notes.append(self.say(kind, noun=self.table.noun, nouns=self.table.nouns, act=act))
        notes += self._namesakes()
        asked = [f'"{topic}"' for topic in topics(playbook)]
        if playbook.counted:
            notes.append(self.say("long_ask_count", topic=f'"{playbook.counted}"', nouns=self.table.nouns))
        if asked:
            notes.append(self.say("long_ask", topics=listing([f"the {topic}" for topic in asked])))
        return notes

    def _namesakes(self) -> list[str]:
        for party in self.playbook.owners:
            others = [] if party.topic else self.desk.namesakes(party)
            others = [other for other in others if other not in {owner.label for owner in self.playbook.owners}]
            if others:
                return [self.say("long_namesake", label=f'"{party.label}"', other=f'"{self.rng.choice(others)}"')]
        return []

    def _act(self, moves: Sequence[Move]) -> str:
        return ", then ".join(self._move(move) for move in moves)

    def _move(self, move: Move) -> str:
        stated = [given for given in move.given if not given.path]
        if move.action.kind == "transition":
            return f"{move.action.verb} it"
        if move.action.kind == "update":
            values = [self.say("value_to", column=relation(g.column.name), value=self._given(move, g)) for g in stated]
            return self.say("act_update", verb=move.action.verb, values=listing(values))
        noun = self.desk.atlas.tables[move.action.table].noun
        parts = [self.say("create_value", column=relation(g.column.name), value=self._given(move, g)) for g in stated]
        same = [relation(g.column.name) for g in move.given if g.path and g.path != self.table.key]
        parts += [self.say("create_same", columns=listing(same))] if same else []
        return self.say("act_create", verb=move.action.verb, noun=noun, details=f" {listing(parts)}" if parts else "")

    def _given(self, move: Move, given: Given) -> str:
        if isinstance(given.value, Named):
            return self._named(given.value)
        value = bool(given.value) if given.column.type == "boolean" else given.value
        return self._value(value, given.topic)

    def _named(self, party: Named) -> str:
        if party.topic:
            return self._value(party.label, party.topic)
        return self.kit.label_phrase(party.table, party.row)

    def _value(self, value: object, topic: str) -> str:
        return self.say("long_told", topic=f'"{topic}"') if topic else literal(value)

    def _conditions(self, tests: Sequence[Test], owners: Sequence[Named] = ()) -> str:
        parts = [self._test(self.table, test) for test in dict.fromkeys(_plain(test) for test in tests)]
        if owners:
            several = [self._value(o.label, o.topic) if o.topic else f'"{o.label}"' for o in owners]
            table = owners[0].table
            owner = f"the {table.nouns if len(owners) > 1 else table.noun} {listing(several)}"
            parts.append(self.kit.speaker.owned(self.table.name, self.playbook.owned_by, owner))
        return listing(list(dict.fromkeys(parts))) if parts else "that we have"

    def _test(self, table: Table, test: Test) -> str:
        first, _, rest = test.path.partition(".")
        if rest:
            target = self.desk.atlas.tables[table.column(first).references.partition(".")[0]]
            inner = self._compared(target, rest, test)
            return self.say("where_behind", relation=relation(first), condition=inner)
        return self._compared(table, first, test)

    def _compared(self, table: Table, name: str, test: Test) -> str:
        column, plain = table.column(name), words(name)
        if test.against:
            other = self._thing(test.against)
            return self.say(f"where_against_{test.operator}", column=plain, other=f"the {other}")
        if test.average:
            return self.say(f"where_average_{test.operator}", column=plain, nouns=table.nouns)
        if test.operator == "in":
            values = " or ".join(literal(value) for value in test.value)
            return self.say("where_in", column=plain, values=values)
        kind = f"where_{test.operator}"
        if column.type in ("date", "datetime"):
            kind = {"where_at_least": "where_since", "where_at_most": "where_until"}.get(kind, kind)
        value = bool(test.value) if column.type == "boolean" else test.value
        return self.say(kind, column=plain, value=self._value(value, test.topic))

    def _thing(self, path: str) -> str:
        """Return a path in words: `stock of the product`."""
        first, _, rest = path.partition(".")
        if rest:
            return f"{words(rest)} of the {relation(first)}"
        return relation(first) if self.table.column(first).references else words(first)

    def _rule(self, case: Case) -> str:
        """Return which of the rules that the prompt lists a case is, in words."""
        place = self.playbook.cases.index(case)
        return "last" if not case.tests else ("first", "second", "third", "fourth")[place]

    def _field(self, stat: Stat) -> AnswerField:
        values = {"noun": self.table.noun, "nouns": self.table.nouns, "measure": words(stat.measure)}
        playbook = self.playbook
        if stat.kind == "flag":
            return self.kit.field(stat.name, "boolean", "true if it was carried out for all of them, else false")
        if stat.kind == "code":
            return self.kit.field(stat.name, "string", self.say("long_stat_code", **values))
        case = playbook.cases[stat.cases[0]] if stat.cases else None
        verb = _verb(case) if case is not None and case.moves else ""
        lenient = case is not None and case.instead is not None
        if stat.kind == "total":
            kind = ("long_stat_done_total" if lenient else "long_stat_total") if verb else "long_stat_sum"
            text = self.say(kind, verb=verb, **values)
            return self.kit.field(stat.name, self.table.column(stat.measure).type, text)
        if stat.which == "refused":
            text = self.say("long_stat_refused", **values)
        elif case is None:
            text = self.say("long_stat_all", **values)
        elif not case.moves:
            text = self.say("long_stat_left", **values)
        elif playbook.family == "pipeline":
            kind = "long_stat_through" if lenient else "long_stat_from"
            text = self.say(kind, state=literal(case.tests[0].value), **values)
        elif len([other for other in playbook.cases if other.moves and _verb(other) == verb]) > 1:
            text = self.say("long_stat_rule", rule=self._rule(case), **values)
        else:
            text = self.say("long_stat_done" if lenient else "long_stat_count", verb=verb, **values)
        return self.kit.field(stat.name, "integer", text)


def _plain(test: Test) -> Test:
    """Return a test so that equal ones are alike: being in a choice of one value is to equal it."""
    one = test.operator == "in" and len(test.value) == 1 and not test.topic
    return replace(test, operator="equals", value=test.value[0]) if one else test


def _verb(case: Case) -> str:
    return case.moves[0].action.verb
