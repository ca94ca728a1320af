"""A session: one episode as the pointer policy sees it, grown step by step, and the decisions that it asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from schemas.task import AnswerField
from tasks.policies.pointer import signatures
from tasks.policies.pointer.agenda import Agenda
from tasks.policies.pointer.columns import Columns
from tasks.policies.pointer.derived import derived_units
from tasks.policies.pointer.history import OMIT_PLACE, History
from tasks.policies.pointer.observations import observation_units
from tasks.policies.pointer.prompts import bag, prompt_values, text_units
from tasks.policies.pointer.units import NOTHING, OMIT, Kind, Unit, cast
from tasks.policies.pointer.words import words_of

MAX_UNITS = 1024


class Head(IntEnum):
    """The three kinds of decision."""

    TOOL = 0
    ARGUMENT = 1
    ANSWER = 2


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: made at unit `position` by pointing at one of the units `candidates`.

    `values[i]` is what pointing at `candidates[i]` means: a tool's name or None (finish), an argument's value or
    OMIT, an answer field's value. `features` (candidates x N_FEATURES flags) say how each stands to the calls so far.
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
        self.history = History(self.columns, self._agenda, self.tools)
        self.history.know_options({first + index: unit for index, unit in enumerate(options.values())})

    @property
    def step(self) -> int:
        """How many calls were made."""
        return self.history.step

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
            [
                Unit(
                    Kind.DECIDE,
                    keys,
                    self._agenda.focus_words(),
                    row=self.history.pending(),
                    step=min(self.step + 1, 31),
                )
            ]
        )
        names: list[Any] = [*self.tools, None]
        return Decision(Head.TOOL, "", len(self.columns) - 1, self._tool_units, names, self.history.tool_features())

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
        derived = derived_units(
            self.columns.units, self.history.used_rows, self.history.made, self.history.refused, step
        )
        self._add(derived[: max(0, MAX_UNITS - len(self.columns) - 16)])
        first = len(self.columns)
        self._add([signatures.ask_unit(field, min(self.step + 1, 31)) for field in self.fields])
        decisions = []
        for index, field in enumerate(self.fields):
            candidates, values = self._of_type(field.type, first)
            chosen = np.array(candidates)
            features = self.history.value_features("", field.name, {}, chosen)
            decisions.append(Decision(Head.ANSWER, field.name, first + index, chosen, values, features))
        return decisions

    def record(self, tool: str, arguments: Mapping[str, Any], observation: Mapping[str, Any]) -> None:
        """Take in a call that was made and what it returned."""
        self.history.begin(tool, "error" in observation)
        step = min(self.step, 31)
        for name, value in arguments.items():
            keys: dict[str, float] = {word: 0.35 for word in words_of(tool)}
            keys.update({word: 1.0 for word in words_of(name)})
            identity = self.columns.identity(value)
            self.history.use(tool, name, identity)
            self._add([Unit(Kind.ARGUMENT, tuple(keys.items()), bag(words_of(str(value))), NOTHING, step=step)])
        room = max(16, min(220, (MAX_UNITS - 64 - len(self.columns)) // 3))
        units, cut = observation_units(tool, arguments, dict(observation), step, self._numbers, self._mentioned, room)
        self.truncated += cut
        self._add(units)
        self.history.see(units)

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
        return Decision(
            Head.ARGUMENT, name, position, chosen, values, self.history.value_features(tool, name, schema, chosen)
        )
