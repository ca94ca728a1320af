"""What an episode has done so far, and how tools and values stand to it: the flags that decisions are made by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tasks.policies.pointer.agenda import LATE, Agenda
from tasks.policies.pointer.columns import Columns
from tasks.policies.pointer.comparisons import parameter_bound, wanted_flag
from tasks.policies.pointer.units import TYPES, Kind, Shape, Unit
from tasks.policies.pointer.words import words_of

N_FEATURES = 36
OMIT_PLACE = 1
"""The unit that stands for leaving an argument out, the first constant behind the sink."""
_RANGES = frozenset(("at", "least", "most", "from", "until", "min", "max", "before", "after", "text", "search", "id"))
"""Words of parameters' names that say how a value is compared, not what it is."""


class History:
    """The calls made, what they used, and where that came from."""

    def __init__(self, columns: Columns, agenda: Agenda, tools: Mapping[str, Any]) -> None:
        """Begin an episode; `tools` are signatures by name."""
        self._columns, self._agenda = columns, agenda
        self.step = 0
        self.made: dict[int, str] = {}
        self.refused: set[int] = set()
        self.used_rows: set[tuple[int, int]] = set()
        self._counts: dict[str, int] = {}
        self._used: dict[tuple[str, str], list[int]] = {}
        self._used_anywhere: set[int] = set()
        self._source: dict[tuple[str, str], int] = {}
        self._loop: tuple[str, str] | None = None
        self._seen: dict[str, int] = {}
        self._option_sentences: dict[int, tuple[int, ...]] = {}
        self._option_words: dict[int, list[str]] = {}
        self._tools = [_Traits(tool) for tool in tools.values()]

    def know_options(self, options: Mapping[int, Unit]) -> None:
        """Take in the options of parameters, by place."""
        self._agenda.know_options(self._columns.identities[list(options)].tolist() if options else ())
        self._option_words = {place: [word for word, _ in unit.values] for place, unit in options.items()}
        for place, unit in options.items():
            self._option_sentences[place] = self._agenda.sentences_of([word for word, _ in unit.values])

    def begin(self, tool: str, refused: bool) -> None:
        """Note a call; its arguments and observed columns follow."""
        self.step += 1
        self.made[self.step] = tool
        self._counts[tool] = self._counts.get(tool, 0) + 1
        if refused:
            self.refused.add(self.step)

    def use(self, tool: str, name: str, identity: int) -> None:
        """Note the value of a call's argument."""
        columns = self._columns
        self._used.setdefault((tool, name), []).append(identity)
        self._used_anywhere.add(identity)
        self._agenda.take(identity)
        listed = (columns.identities == identity) & (columns.rows > 0) & (columns.kinds == Kind.OBSERVED)
        places = np.flatnonzero(listed)
        if len(places):
            self.used_rows.add((int(columns.steps[places[-1]]), int(columns.rows[places[-1]])))
            self._source[tool, name] = int(columns.column_ids[places[-1]])
            self._loop = (tool, name)

    def see(self, units: Iterable[Unit]) -> None:
        """Note which columns an observation held."""
        for unit in units:
            if unit.column:
                self._seen[unit.column.rpartition("/")[2].rpartition(".")[2]] = self.step

    def pending(self) -> int:
        """Return 1 + the number of rows that the present loop has not yet used, 0 if there is no loop."""
        if self._loop is None:
            return 0
        inside = self._columns.column_ids == self._source[self._loop]
        rest = ~self._among(self._columns.identities[inside], self._used[self._loop])
        return min(1 + int(rest.sum()), 23)

    def tool_features(self) -> np.ndarray:
        """Return how each tool, and finishing, stands to the calls made and the sentences in focus (T + 1 rows)."""
        features = np.zeros((len(self._tools) + 1, N_FEATURES), np.uint8)
        focus = {word for word, _ in self._agenda.focus_words()}
        mention = self._agenda.next_keys()
        last = self.made.get(self.step, "")
        left = self._agenda.left
        for row, tool in zip(features, self._tools, strict=False):
            row[min(self._counts.get(tool.name, 0), 2)] = 1
            if tool.name == last:
                row[4 if self.step in self.refused else 3] = 1
            known = all(name in self._seen for name in tool.keys)
            row[6] = bool(tool.keys) and known
            row[7] = bool(tool.keys) and any(self._seen.get(name) == self.step for name in tool.keys) and known
            row[8] = bool(tool.keys) and not known
            row[9] = tool.verb in focus
            row[10] = tool.noun <= focus
            row[11] = bool(mention) and tool.noun <= mention
            row[12] = tool.verb in focus and tool.noun <= focus
            row[13] = row[12] and tool.name not in self._counts
            row[14] = tool.verb in mention
            row[15 + min(left, 2)] = tool.reads
            row[18 + min(left, 2)] = not tool.reads
        features[-1, 5] = 1
        features[-1, 21 + min(left, 2)] = 1
        return features

    def value_features(self, tool: str, name: str, schema: Mapping[str, Any], chosen: np.ndarray) -> np.ndarray:
        """Return how each candidate of an argument (or, with `tool` '', of an answer's field) stands to earlier calls
        and to the agenda: used here before, next of its column, from the same source, next in the prompt ..."""
        columns = self._columns
        identities, rows, sources = columns.identities[chosen], columns.rows[chosen], columns.column_ids[chosen]
        kinds, shapes = columns.kinds[chosen], columns.shapes[chosen]
        features = np.zeros((len(chosen), N_FEATURES), np.uint8)
        used = self._among(identities, self._used.get((tool, name), ()))
        observed = kinds == Kind.OBSERVED
        listed = (rows > 0) & observed
        features[:, 0] = used
        fresh = np.flatnonzero(~used & listed)
        first = np.zeros(columns.n_sources + 1, np.int64)
        first[sources[fresh[::-1]]] = fresh[::-1]
        features[first[sources[fresh]], 1] = 1
        features[:, 2] = sources == self._source.get((tool, name), -1)
        features[:, 3] = (columns.steps[chosen] == min(self.step, 31)) & observed
        features[:, 4] = (kinds == Kind.PROMPT) | (kinds == Kind.SPAN)
        features[:, 5] = self._among(identities, self._used_anywhere) & ~used
        features[:, 6] = shapes == Shape.QUOTED
        features[:, 7] = columns.leaf_ids[chosen] == columns.leaves.get(name, -2)
        features[:, 8] = shapes == Shape.CODE
        features[:, 9] = listed
        features[:, 10] = observed & (rows == 0)
        features[:, 11] = kinds == Kind.CONSTANT
        ranks = self._agenda.ranks(identities, columns.n_identities)
        features[:, 12] = ranks == 0
        features[:, 13] = ranks == 1
        features[:, 14] = (ranks >= 2) & (ranks < 6)
        start, end = self._agenda.focus()
        features[:, 15] = features[:, 4] & (rows >= start) & (rows <= end)
        for index in np.flatnonzero(kinds == Kind.OPTION):
            features[index, 15] = any(start <= row <= end for row in self._option_sentences[int(chosen[index])])
        features[:, 16] = shapes == Shape.DATE
        if tool:
            self._compare(features, name, schema, chosen, ranks)
        if tool and chosen[-1] == OMIT_PLACE:
            self._leave_out(features, tool, name, schema, ranks)
        return features

    def _compare(
        self, features: np.ndarray, name: str, schema: Mapping[str, Any], chosen: np.ndarray, ranks: np.ndarray
    ) -> None:
        """Say which candidates a comparison in the prompt speaks for, and at the last one whether any is."""
        sign = parameter_bound(name, schema.get("description", ""))
        bounds = self._columns.bounds[chosen]
        if sign:
            features[:, 28] = bounds == sign
            features[:, 29] = bounds == -sign
            features[:, 30] = (bounds == 0) & (features[:, 4] > 0)
            meant = bool(((bounds == sign) & (ranks < LATE) & (features[:, 15] > 0)).any())
            features[-1, 31], features[-1, 32] = not meant, meant
        wanted = wanted_flag(name, self._agenda.end_in_focus())
        if wanted is not None:
            for row, place in zip(features, chosen, strict=True):
                value = self._columns.units[place].value
                row[33] = (value is True) == wanted
                row[34] = (value is True) != wanted
        for index in np.flatnonzero(self._columns.kinds[chosen] == Kind.OPTION):
            features[index, 35] = self._agenda.beside_superlative(self._option_words[int(chosen[index])])

    def _leave_out(
        self, features: np.ndarray, tool: str, name: str, schema: Mapping[str, Any], ranks: np.ndarray
    ) -> None:
        """Say at the last candidate, leaving out, what speaks against it."""
        row, others = features[-1], features[:-1]
        row[:28] = 0
        option = bool(len(others)) and "enum" in schema
        row[17] = option and bool((ranks[:-1] < LATE).any())
        row[18] = option and bool((ranks[:-1] < 2).any())
        row[19] = option and bool(others[:, 15].any())
        row[20] = self._agenda.speaks_of(frozenset(words_of(name)) - _RANGES)
        row[21] = self._seen.get(name) == self.step
        row[22] = name in self._seen
        row[23] = bool(self._used.get((tool, name)))
        row[24] = option
        kind = schema.get("type")
        row[25] = kind in ("integer", "number")
        row[26] = kind == "boolean"
        row[27] = kind in TYPES[:1] and not option

    def _among(self, identities: np.ndarray, members: Iterable[int]) -> np.ndarray:
        """Return which of the identities are among the members; -1 is never."""
        table = np.zeros(self._columns.n_identities + 1, bool)
        table[list(members)] = True
        return table[identities] & (identities >= 0)


class _Traits:
    """What of a tool's signature its flags need: its verb and nouns, and the required keys of rows."""

    def __init__(self, tool: Any) -> None:
        words = words_of(tool.name)
        self.name: str = tool.name
        self.verb = words[0] if words else ""
        self.noun = frozenset(words[1:])
        required = tool.parameters.get("required", ())
        self.keys = [name for name in required if "enum" not in tool.parameters["properties"].get(name, {})][:1]
        self.reads = tool.kind in ("get", "search", "list", "aggregate", "document")
