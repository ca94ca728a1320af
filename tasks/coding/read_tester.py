"""The tester's tests of tools that read: all rows that match and no other, in order, cut at the limit, counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from schemas.tool import ToolField
from tasks.coding.tester import Row, Tester

_DEFAULT_LIMIT = 20
_FILTERS = ("equals", "contains", "at_least", "at_most")


class ReadTester(Tester):
    """Expects what a search over the state's rows in Python finds."""

    def _properties(self) -> None:
        kind = self.tool.kind
        if kind == "get":
            self._get()
        elif kind == "aggregate":
            self._aggregate()
        elif kind == "document":
            self._document()
        else:
            self._search()

    def _get(self) -> None:
        keys = list(self._rows)
        for key in self.rng.sample(keys, min(3, len(keys))):
            self._repeat("same_row_again", {self.tool.inputs[0].path: key}, self._rows[key])

    def _filters(self, required: bool) -> list[ToolField]:
        filters = [field for field in self.tool.inputs if field.meaning in _FILTERS]
        return [field for field in filters if (field.path in self.required) == required]

    def _sample(self, field: ToolField, rows: Sequence[Row]) -> list[Any]:
        """Return a value of a filter's column that rows have, as an argument; of words two, in either case."""
        column = self._column(field)
        values = sorted({row[column.name] for row in rows if row[column.name] is not None})
        if field.meaning == "contains":
            words = {word for value in values for word in re.findall(r"[A-Za-z]{3,}", str(value))}
            picked = self.rng.sample(sorted(words), min(2, len(words)))
            return [word.upper() if place else word for place, word in enumerate(picked)]
        picked = self.rng.sample(values, min(1, len(values)))
        if field.meaning in ("at_least", "at_most"):
            picked = [value[:10] if isinstance(value, str) else value for value in picked]
        return [bool(value) for value in picked] if field.type == "boolean" else picked

    def _matching(self, arguments: dict[str, Any]) -> list[Row]:
        fields = {field.path: field for field in self._filters(True) + self._filters(False)}
        given = [(fields[name], value) for name, value in arguments.items() if name in fields]
        rows = self._rows.values()
        return [row for row in rows if all(_matches(row[self._column(f).name], f.meaning, v) for f, v in given)]

    def _bases(self) -> list[dict[str, Any]]:
        """Return required arguments: none, or parents with many, few and no children."""
        parents = self._filters(True)
        if not parents:
            return [{}]
        (field,) = parents
        name, _, key = field.entity.partition(".")
        column = self._column(field).name
        counts = {row[key]: 0 for row in self.state[name].values()}
        for row in self._rows.values():
            if row[column] in counts:
                counts[row[column]] += 1
        ranked = sorted(counts, key=lambda value: (-counts[value], str(value)))
        if not ranked:
            return []
        return [{field.path: value} for value in dict.fromkeys((ranked[0], ranked[len(ranked) // 2], ranked[-1]))]

    def _search(self) -> None:
        bases = self._bases()
        for base in bases if self._filters(True) else []:
            self._expect_rows("children_all_and_only", base)
        if not bases:
            return
        base = bases[0]
        rows = self._matching(base)
        optional = self._filters(False)
        for field in optional:
            for value in self._sample(field, rows):
                self._expect_rows(f"{field.path}_all_and_only", {**base, field.path: value})
        for pair in self._pairs(optional, rows):
            self._expect_rows("filters_must_all_hold", {**base, **pair})
        self._orders(base)
        self._limits(base, rows)

    def _pairs(self, fields: Sequence[ToolField], rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return arguments for two filters at once, from one row (which matches) and from two (which may not)."""
        pairs: list[dict[str, Any]] = []
        for place, (first, second) in enumerate(zip(fields, fields[1:], strict=False)):
            for other in (False, True) if place < 2 and len(rows) > 1 else (False,):
                picked = self.rng.sample(list(rows), min(1 + other, len(rows)))
                values = [self._sample(first, picked[:1]), self._sample(second, picked[-1:])]
                if all(values):
                    pairs.append({first.path: values[0][0], second.path: values[1][0]})
        return pairs

    def _orders(self, base: dict[str, Any]) -> None:
        for field in self.tool.inputs:
            if field.meaning == "sort_by":
                for place, column in enumerate(self.tool.parameters["properties"][field.path]["enum"]):
                    more = {"descending": True} if place % 2 == 0 else {"descending": False}
                    self._expect_rows("sorted", {**base, field.path: column, **more})
        if any(field.meaning == "descending" for field in self.tool.inputs):
            self._expect_rows("reversed", {**base, "descending": True})

    def _limits(self, base: dict[str, Any], rows: list[Row]) -> None:
        size = next((field.path for field in self.tool.inputs if field.meaning == "limit"), None)
        if size is None:
            return
        highest = self.tool.parameters["properties"][size].get("maximum", 100)
        for limit in {max(1, min(len(rows), highest)), highest}:
            self._expect_rows("limit_cuts", {**base, size: limit}, kind="boundary")

    def _expect_rows(self, name: str, arguments: dict[str, Any], kind: str = "property") -> None:
        key = self._table.key
        rows = self._matching(arguments)
        total = len(rows)
        column = arguments.get("sort_by")
        rows.sort(key=lambda row: row[key], reverse=bool(arguments.get("descending")) and column in (None, key))
        if column not in (None, key):
            present = [row for row in rows if row[column] is not None]
            present.sort(key=lambda row: row[column], reverse=bool(arguments.get("descending")))
            rows = present + [row for row in rows if row[column] is None]
        rows = rows[: arguments.get("limit", _DEFAULT_LIMIT)]
        expected: dict[str, Any] = {"total": total, f"{self.tool.table}[].{key}": [row[key] for row in rows]}
        if rows:
            expected |= {f"{self.tool.table}[0].{name}": value for name, value in rows[0].items()}
        self._repeat(name, arguments, expected, kind)

    def _aggregate(self) -> None:
        output = next((field for field in self.tool.outputs if field.path == "value" and field.meaning), None)
        if output is None:
            return
        rows = list(self._rows.values())
        arguments: list[dict[str, Any]] = []
        for field in self._filters(False):
            arguments += [{field.path: value} for value in self._sample(field, rows)]
        arguments += self._pairs(self._filters(False), rows)
        ranges = [field for field in self._filters(False) if field.meaning in ("at_least", "at_most")]
        if len(ranges) >= 2 and rows:
            low, high = self._column(ranges[0]).name, ranges[:2]
            values = sorted(row[low] for row in rows if row[low] is not None)
            if values:
                none = {high[0].path: values[-1], high[1].path: values[0]}
                arguments.append({k: v[:10] if isinstance(v, str) else v for k, v in none.items()})
        for given in arguments:
            value = _statistic(self._matching(given), output)
            self._repeat("agrees_with_the_rows", given, {"value": value})
        for field in self.tool.inputs:
            if field.meaning == "group_by":
                for column in self.tool.parameters["properties"][field.path]["enum"]:
                    for given in arguments[-1:] or [{}]:
                        self._expect_groups(field, column, given, output)

    def _expect_groups(self, field: ToolField, column: str, given: dict[str, Any], output: ToolField) -> None:
        groups: dict[Any, list[Row]] = {}
        for row in self._matching(given):
            groups.setdefault(row[column], []).append(row)
        names = sorted(groups, key=lambda value: (value is not None, value if value is not None else 0))
        expected = {
            f"groups[].{column}": names,
            "groups[].value": [_statistic(groups[name], output) for name in names],
        }
        self._repeat(f"groups_by_{column}", {**given, field.path: column}, expected)

    def _document(self) -> None:
        if not self.tool.inputs:
            expected = {"documents": [{"name": d["name"], "title": d["title"]} for d in self.documents]}
            self._repeat("lists_all_again", {}, expected)
        for field in self.tool.inputs:
            if field.meaning == "equals":
                for document in self.rng.sample(self.documents, min(3, len(self.documents))):
                    self._repeat("same_document_again", {field.path: document["name"]}, document)
            if field.meaning == "contains":
                self._document_search(field)

    def _document_search(self, field: ToolField) -> None:
        texts = {d["name"]: f"{d['title']} {d['content']}" for d in self.documents}
        words = sorted({word for text in texts.values() for word in re.findall(r"[A-Za-z]{4,12}", text[:4000])})
        for place, word in enumerate(self.rng.sample(words, min(3, len(words)))):
            given = word.upper() if place else word
            names = [name for name, text in texts.items() if word.lower() in text.lower()]
            expected = {"total": len(names), "documents[].name": names[:10]}
            self._repeat("words_all_and_only", {field.path: given}, expected)
        expected = {"total": len(texts), "documents[].name": list(texts)[:1]}
        if all("e" in text.lower() for text in texts.values()):
            self._repeat("limit_cuts", {field.path: "e", "limit": 1}, expected, "boundary")


def _matches(cell: Any, meaning: str, value: Any) -> bool:
    if cell is None:
        return False
    if meaning == "contains":
        return str(value).lower() in str(cell).lower()
    if meaning == "equals":
        return cell == value
    if isinstance(cell, str):
        cell, value = cell[:10], value[:10]
    compare: Callable[[Any, Any], bool] = (lambda a, b: a >= b) if meaning == "at_least" else (lambda a, b: a <= b)
    return compare(cell, value)


def _statistic(rows: Sequence[Row], output: ToolField) -> Any:
    if output.meaning == "count":
        return len(rows)
    column = output.of.split(".")[1]
    values = [row[column] for row in rows if row[column] is not None]
    if output.meaning == "sum":
        return round(sum(values), 6)
    if not values:
        return None
    if output.meaning == "average":
        return round(sum(values) / len(values), 6)
    return min(values) if output.meaning == "minimum" else max(values)
