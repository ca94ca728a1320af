"""A session: one episode as the pointer policy sees it, grown step by step, and the decisions that it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from schemas.task import AnswerField
from tasks.policies.pointer import signatures
from tasks.policies.pointer.agenda import Agenda
from tasks.policies.pointer.columns import Columns
from tasks.policies.pointer.derived import derived_units
from tasks.policies.pointer.observations import observation_units
from tasks.policies.pointer.prompts import bag, prompt_values, text_units
from tasks.policies.pointer.units import NOTHING, OMIT, Kind, Shape, Unit, cast
from tasks.policies.pointer.words import words_of

MAX_UNITS = 1024
N_FEATURES = 16
OMIT_PLACE = 1
"""The unit that stands for leaving an argument out, the first constant behind the sink."""


class Head(IntEnum):
    """The three kinds of decision."""

    TOOL = 0
    ARGUMENT = 1
    ANSWER = 2


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: made at unit `position` by pointing at one of the units `candidates`.

    `values[i]` is what pointing at `candidates[i]` means: a tool's name or None (finish), an argument's value or
    OMIT, an answer field's value. `features` (candidates x N_FEATURES, uint8) say how each stands to the calls so far.
    """

    head: Head
    name: str
    position: int
    candidates: np.ndarray
    values: list[Any]
    features: np.ndarray


@dataclass(frozen=True, slots=True)
class Signature:
    """What a policy knows of a tool: the record that a view offers has these same four fields."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: str


class Session:
    """The growing sequence of one episode. Deterministic: the same prompt, tools and steps give the same units."""

    def __init__(self, prompt: str, tools: Sequence[Any], answer: Sequence[AnswerField]) -> None:
        """Read a task: prompt, tools (with name, description, parameters, kind) and answer fields."""
        self.columns = Columns()
        self.tools = {tool.name: tool for tool in tools}
        self.fields = tuple(answer)
        self.truncated = 0
        self.step = 0
        self._calls: dict[str, int] = {}
        self._made: dict[int, str] = {}
        self._refused: set[int] = set()
        self._used_rows: set[tuple[int, int]] = set()
        self._last = ("", False)
        self._used: dict[tuple[str, str], list[int]] = {}
        self._used_anywhere: set[int] = set()
        self._source: dict[tuple[str, str], int] = {}
        self._loop: tuple[str, str] | None = None
        self._castable: dict[str, tuple[list[int], list[Any]]] = {}
        self._cast_up_to: dict[str, int] = {}
        self._add(signatures.constant_units())
        units, cut = text_units(prompt, Kind.PROMPT)
        self.truncated += cut
        self._numbers, keys = prompt_values(units)
        self._mentioned = set(keys)
        words = {word for unit in units for word, _ in unit.values}
        first = len(self.columns)
        names = {field.name for field in answer}
        for unit in units:
            if unit.value in names:  # the name of an answer field is no value
                unit.value = NOTHING
        self._add(units)
        identities = self.columns.identities[first:].tolist()
        self._agenda = Agenda(units, identities, names)
        self._add(signatures.field_units(answer))
        start = len(self.columns)
        self._add([signatures.tool_unit(t.name, t.description, t.parameters, t.kind) for t in tools])
        self._add([Unit(Kind.FINISH)])
        self._tool_units = np.arange(start, len(self.columns))
        options = signatures.option_units([(t.name, t.parameters) for t in tools], words)
        first = len(self.columns)
        self._options = {key: first + index for index, key in enumerate(options)}
        self._add(list(options.values()))
        self._agenda.know_options(self.columns.identities[first:].tolist())
        self._places = {
            first + index: self._agenda.sentences_of([word for word, _ in unit.values])
            for index, unit in enumerate(options.values())
        }

    @property
    def full(self) -> bool:
        """True when another call may not fit any more."""
        return len(self.columns) > MAX_UNITS - 64

    def _add(self, units: Sequence[Unit]) -> None:
        for unit in units:
            self.columns.append(unit)

    def decide(self) -> Decision:
        """Ask which tool to call next, or whether to finish."""
        agenda = self._agenda.units()
        self._add(agenda)
        keys = agenda[0].keys if agenda else ()
        self._add(
            [Unit(Kind.DECIDE, keys, self._agenda.focus_words(), row=self._pending(), step=min(self.step + 1, 31))]
        )
        features = np.zeros((len(self._tool_units), N_FEATURES), np.uint8)
        for index, name in enumerate(self.tools):
            features[index, min(self._calls.get(name, 0), 2)] = 1
            if name == self._last[0]:
                features[index, 4 if self._last[1] else 3] = 1
        features[-1, 5] = 1
        names: list[Any] = [*self.tools, None]
        return Decision(Head.TOOL, "", len(self.columns) - 1, self._tool_units, names, features)

    def arguments(self, tool: str) -> list[Decision]:
        """Ask for the value of each of a tool's arguments."""
        parameters = self.tools[tool].parameters
        required = set(parameters.get("required", ()))
        properties = parameters.get("properties", {})
        first = len(self.columns)
        step = min(self.step + 1, 31)
        self._add(
            [
                signatures.parameter_unit(tool, name, schema, name in required, step)
                for name, schema in properties.items()
            ]
        )
        return [
            self._argument(tool, name, schema, name in required, first + index, first)
            for index, (name, schema) in enumerate(properties.items())
        ]

    def answer(self) -> list[Decision]:
        """Ask for the value of each field of the answer."""
        step = min(self.step + 1, 31)
        derived = derived_units(self.columns.units, self._used_rows, self._made, self._refused, step)
        self._add(derived[: max(0, MAX_UNITS - len(self.columns) - 16)])
        first = len(self.columns)
        self._add([signatures.ask_unit(field, min(self.step + 1, 31)) for field in self.fields])
        decisions = []
        for index, field in enumerate(self.fields):
            candidates, values = self._of_type(field.type, first)
            chosen = np.array(candidates)
            features = self._features("", field.name, chosen)
            decisions.append(Decision(Head.ANSWER, field.name, first + index, chosen, values, features))
        return decisions

    def record(self, tool: str, arguments: Mapping[str, Any], observation: Mapping[str, Any]) -> None:
        """Take in a call that was made and what it returned."""
        self.step += 1
        step = min(self.step, 31)
        for name, value in arguments.items():
            keys: dict[str, float] = {word: 0.35 for word in words_of(tool)}
            keys.update({word: 1.0 for word in words_of(name)})
            identity = self.columns.identity(value)
            self._remember(tool, name, identity)
            self._add([Unit(Kind.ARGUMENT, tuple(keys.items()), bag(words_of(str(value))), NOTHING, step=step)])
        room = max(16, min(220, (MAX_UNITS - 64 - len(self.columns)) // 3))
        units, cut = observation_units(tool, arguments, dict(observation), step, self._numbers, self._mentioned, room)
        self.truncated += cut
        self._add(units)
        self._calls[tool] = self._calls.get(tool, 0) + 1
        self._last = (tool, "error" in observation)
        self._made[self.step] = tool
        if "error" in observation:
            self._refused.add(self.step)

    def _remember(self, tool: str, name: str, identity: int) -> None:
        self._used.setdefault((tool, name), []).append(identity)
        self._used_anywhere.add(identity)
        self._agenda.take(identity)
        places = np.flatnonzero(
            (self.columns.identities == identity) & (self.columns.rows > 0) & (self.columns.kinds == Kind.OBSERVED)
        )
        if len(places):
            self._used_rows.add((int(self.columns.steps[places[-1]]), int(self.columns.rows[places[-1]])))
            self._source[tool, name] = int(self.columns.column_ids[places[-1]])
            self._loop = (tool, name)

    def _among(self, identities: np.ndarray, members: Iterable[int]) -> np.ndarray:
        """Return which of the identities are among the members; -1 is never."""
        table = np.zeros(self.columns.n_identities + 1, bool)
        table[list(members)] = True
        return table[identities] & (identities >= 0)

    def _pending(self) -> int:
        """Return 1 + the number of rows that the present loop has not yet used, 0 if there is no loop."""
        if self._loop is None:
            return 0
        inside = self.columns.column_ids == self._source[self._loop]
        rest = ~self._among(self.columns.identities[inside], self._used[self._loop])
        return min(1 + int(rest.sum()), 23)

    def _of_type(self, wanted: str, end: int) -> tuple[list[int], list[Any]]:
        """Return the units before `end` whose value can be taken as that type, and the values."""
        places, values = self._castable.setdefault(wanted, ([], []))
        for place in range(self._cast_up_to.get(wanted, 0), end):
            unit = self.columns.units[place]
            if unit.value is NOTHING or unit.value is OMIT or unit.kind == Kind.OPTION:
                continue
            value = cast(unit.value, unit.kind, wanted)
            if value is not NOTHING:
                places.append(place)
                values.append(value)
        self._cast_up_to[wanted] = end
        return list(places), list(values)

    def _argument(
        self, tool: str, name: str, schema: dict[str, Any], required: bool, position: int, end: int
    ) -> Decision:
        options = signatures.options_of(schema)
        if options:
            places = [self._options[name, value] for value in options if (name, value) in self._options]
            values = [value for value in options if (name, value) in self._options]
            if len(places) < len(options):
                missing = set(map(str, options)) - set(map(str, values))
                for place, value in zip(*self._of_type(signatures.type_of(schema), end), strict=True):
                    if str(value) in missing and value in options:
                        places.append(place)
                        values.append(value)
        else:
            places, values = self._of_type(signatures.type_of(schema), end)
            if "minimum" in schema or "maximum" in schema:
                least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
                inside = [index for index, value in enumerate(values) if least <= value <= most]
                places, values = [places[index] for index in inside], [values[index] for index in inside]
        if not required or not places:
            places.append(OMIT_PLACE)
            values.append(OMIT)
        chosen = np.array(places)
        return Decision(Head.ARGUMENT, name, position, chosen, values, self._features(tool, name, chosen))

    def _features(self, tool: str, name: str, chosen: np.ndarray) -> np.ndarray:
        """Return how each candidate stands to earlier calls: used here before, next of its column, same source ..."""
        columns = self.columns
        identities, rows, sources = columns.identities[chosen], columns.rows[chosen], columns.column_ids[chosen]
        kinds = columns.kinds[chosen]
        features = np.zeros((len(chosen), N_FEATURES), np.uint8)
        used = self._among(identities, self._used.get((tool, name), ()))
        features[:, 0] = used
        listed = (rows > 0) & (kinds == Kind.OBSERVED)
        fresh = np.flatnonzero(~used & listed)
        first = np.zeros(columns.n_sources + 1, np.int64)
        first[sources[fresh[::-1]]] = fresh[::-1]
        features[first[sources[fresh]], 1] = 1
        features[:, 2] = sources == self._source.get((tool, name), -1)
        features[:, 3] = (columns.steps[chosen] == min(self.step, 31)) & (kinds == Kind.OBSERVED)
        features[:, 4] = (kinds == Kind.PROMPT) | (kinds == Kind.SPAN)
        features[:, 5] = self._among(identities, self._used_anywhere) & ~used
        features[:, 6] = columns.shapes[chosen] == Shape.QUOTED
        leaf = columns.leaves.get(name, -2)
        features[:, 7] = columns.leaf_ids[chosen] == leaf
        features[:, 8] = columns.shapes[chosen] == Shape.CODE
        features[:, 9] = listed
        features[:, 10] = (kinds == Kind.OBSERVED) & (rows == 0)
        features[:, 11] = kinds == Kind.CONSTANT
        ranks = self._agenda.ranks(identities, columns.n_identities)
        features[:, 12] = ranks == 0
        features[:, 13] = ranks == 1
        features[:, 14] = (ranks >= 2) & (ranks < 6)
        first_sentence, last_sentence = self._agenda.focus()
        features[:, 15] = features[:, 4] & (rows >= first_sentence) & (rows <= last_sentence)
        for index in np.flatnonzero(kinds == Kind.OPTION):
            rows_of = self._places[int(chosen[index])]
            features[index, 15] = any(first_sentence <= row <= last_sentence for row in rows_of)
        return features
