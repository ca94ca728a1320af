"""What rows refer to: keys, references between datasets, rows held back, and what a quarantined row takes with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from tasks.quality.contracts import Contract, by_reference, target


def key_texts(table: pa.Table, columns: Sequence[str]) -> list[str]:
    """Return each row's values of the columns as one text, parts divided by ` / `."""
    lists = [["" if v is None else str(v) for v in table.column(name).to_pylist()] for name in columns]
    return lists[0] if len(lists) == 1 else [" / ".join(parts) for parts in zip(*lists, strict=True)]


class Links:
    """The references among the tables that are audited together. A value that is empty refers to nothing."""

    def __init__(self, tables: Mapping[str, pa.Table], contracts: Mapping[str, Contract]) -> None:
        self.tables, self.contracts = tables, contracts
        self._rows: dict[str, dict[str, list[int]]] = {}
        self._texts: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    @cached_property
    def order(self) -> list[str]:
        """The audited datasets, each after those that it refers to."""
        return [name for name in by_reference(self.contracts) if name in self.tables]

    def texts(self, dataset: str, columns: tuple[str, ...]) -> list[str]:
        """Return the rows' values of the columns as texts; '' where they are all empty."""
        if (dataset, columns) not in self._texts:
            found = key_texts(self.tables[dataset], columns)
            self._texts[dataset, columns] = ["" if not text.strip(" /") else text for text in found]
        return self._texts[dataset, columns]

    def rows(self, reference: str) -> dict[str, list[int]]:
        """Return, for each value that a reference can have, the rows of its dataset that hold it."""
        if reference not in self._rows:
            dataset, columns = target(reference)
            found: dict[str, list[int]] = defaultdict(list)
            if dataset in self.tables:
                for row, text in enumerate(self.texts(dataset, columns)):
                    found[text].append(row)
            self._rows[reference] = dict(found)
        return self._rows[reference]

    def leads(self, dataset: str, columns: tuple[str, ...], reference: str) -> list[bool | None]:
        """Return for each row whether its reference leads to a row; None where it refers to nothing."""
        known = self.rows(reference)
        return [None if not text else text in known for text in self.texts(dataset, columns)]

    def held_back(self) -> dict[str, list[str]]:
        """Return for each row why it stays out of releases; '' for those that go in.

        A row that refers to rows that are all held back is held back with them.
        """
        held: dict[str, list[str]] = {}
        for name in self.order:
            contract, table = self.contracts[name], self.tables[name]
            reasons = [""] * table.num_rows
            for rule in contract.held_back:
                texts = self.texts(name, rule.columns)
                chosen = self._chosen(rule.references, rule.where) if rule.references else set(map(str, rule.values))
                reasons = [
                    old or (rule.reason if text in chosen else "") for old, text in zip(reasons, texts, strict=True)
                ]
            for columns, reference in contract.references():
                other = target(reference)[0]
                if other == name or other not in held:
                    continue
                known = self.rows(reference)
                for row, text in enumerate(self.texts(name, columns)):
                    reached = known.get(text, ())
                    if not reasons[row] and reached and all(held[other][r] for r in reached):
                        reasons[row] = f"its row of {other} is held back: {held[other][reached[0]]}"
            held[name] = reasons
        return held

    def _chosen(self, reference: str, where: Mapping[str, tuple[Any, ...]]) -> set[str]:
        """Return the values of a reference that lead only to rows in which `where` holds."""
        dataset, _ = target(reference)
        if dataset not in self.tables:
            return set()
        table = self.tables[dataset]
        columns = {name: table.column(name).to_pylist() for name in where}
        return {
            text
            for text, rows in self.rows(reference).items()
            if all(columns[name][row] in values for row in rows for name, values in where.items())
        }

    def dependants(
        self, fallen: Mapping[str, set[int]], held: Mapping[str, Sequence[str]]
    ) -> list[tuple[str, int, str]]:
        """Return (dataset, row, reason) of what falls with the rows in `fallen`, over all steps.

        A row falls if a reference of it leads only to fallen rows, or if one of its parts has fallen (an environment
        with one of its tools, since it is released whole or not at all). Rows held back never fall.
        """
        down = {name: set(rows) for name, rows in fallen.items()}
        found: list[tuple[str, int, str]] = []
        changed = True
        while changed:
            changed = False
            for name in self.order:
                gone = down.setdefault(name, set())
                for row, reason in self._falling(name, down):
                    if row not in gone and not held[name][row]:
                        gone.add(row)
                        found.append((name, row, reason))
                        changed = True
        return found

    def _falling(self, name: str, down: Mapping[str, set[int]]) -> list[tuple[int, str]]:
        contract = self.contracts[name]
        found = []
        for columns, reference in contract.references():
            other = target(reference)[0]
            lost = down.get(other, set())
            if not lost:
                continue
            gone = {text for text, rows in self.rows(reference).items() if all(row in lost for row in rows)}
            found += [
                (row, f"depends on {other} {text!r}, which is quarantined")
                for row, text in enumerate(self.texts(name, columns))
                if text and text in gone
            ]
        for part in contract.parts:
            other, columns = target(part)
            lost = down.get(other, set())
            if not lost or other not in self.tables:
                continue
            texts, keys = self.texts(other, columns), self.texts(name, contract.key)
            keyed = key_texts(self.tables[other], self.contracts[other].key)
            broken = {texts[row]: keyed[row] for row in sorted(lost, reverse=True)}
            found += [
                (row, f"a part of it is quarantined: {other} {broken[key]!r}")
                for row, key in enumerate(keys)
                if key in broken
            ]
        return found
