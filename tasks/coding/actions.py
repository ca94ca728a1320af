"""The source of a tool that performs an action: checks in order, then all writes, then the row as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schemas.actions import resolve_path
from schemas.base import Scalar
from schemas.database import Action, Column, Database, Effect, Table
from tasks.coding import render
from tasks.coding.expressions import Expression, Scope, assignment, quoted, refusing_condition, sql_literal
from tasks.coding.signature import Parameter, key_parameter, value_parameter
from tasks.coding.words import identifier, listing, one, parameter_name, phrase, plain, snake, variable_name

_WRITTEN = {
    "date": (r"\d{4}-\d{2}-\d{2}", "YYYY-MM-DD"),
    "datetime": (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", "YYYY-MM-DDTHH:MM:SS"),
}


@dataclass
class ActionTool:
    """An action made into a tool: its parameters, body, refusals by code, and the tables that it touches."""

    parameters: list[Parameter]
    body: list[str]
    refusals: list[tuple[str, str]]
    reads: set[str]
    writes: set[str]
    imports: tuple[str, ...]


def write_action(database: Database, action: Action, prefix: str) -> ActionTool:
    """Return the parts of an action's tool; `prefix` starts the keys that a create mints ('' for integer keys)."""
    return _Writer(database, action).write(prefix)


class _Writer:
    """Writes one action's body, line by line."""

    def __init__(self, database: Database, action: Action) -> None:
        self.database, self.action = database, action
        self.table: Table = database.table(action.table)
        self.create = action.kind == "create"
        parameters = [self.table.column(name) for name in action.parameters]
        judged = {rule.path for rule in action.rules}
        values = [value_parameter(self.table, c, self._target(c), c.name not in judged) for c in parameters]
        values.sort(key=lambda parameter: bool(parameter.default))
        self.parameters = values if self.create else [key_parameter(self.table), *values]
        if action.kind == "update" and len(values) == 1:
            self.parameters = [self.parameters[0], Parameter(**{**vars(values[0]), "default": ""})]
        self.key = parameter_name(self.table.key)
        names = [parameter.name for parameter in self.parameters]
        self.row = variable_name(snake(self.table.noun), names)
        self.scope = Scope(database, self.table, action, "" if self.create else self.row)
        self.required = {p.name for p in self.parameters if not p.default}
        self.loaded: set[str] = set()
        self.body: list[str] = []
        self.refusals: list[tuple[str, str]] = []
        self.imports: tuple[str, ...] = ()
        self.reads, self.writes = {self.table.name}, {self.table.name}

    def write(self, prefix: str) -> ActionTool:
        if not self.create:
            self._find_row()
        self._check_days()
        self._check_references()
        self._check_unique()
        early = self.create and self._rules_need_computed()
        if early:
            self._compute()
        for rule in self.action.rules:
            self._load_for(rule.path, *(rule.value if isinstance(rule.value, tuple) else (rule.value,)))
            condition = refusing_condition(self.scope, rule)
            self.body += [f"    if {condition}:", *render.refusal(rule.code, rule.message)]
            self.refusals.append((rule.code, f"if not: {rule.message}"))
        for effect in self.action.effects:
            self._load_for(effect.value)
        self.body.append("")
        if not early:
            self._compute()
        if self.create:
            self._insert(prefix)
        else:
            self._update()
        self._affect_others()
        select = render.text(f"SELECT * FROM {identifier(self.table.name)} WHERE {identifier(self.table.key)} = ?")
        key = f'{self.row}["{self.table.key}"]' if self.create else self.key
        self.body += render.call("return ctx.db.row", [select, f"({key},)"])
        return ActionTool(self.parameters, self.body, self.refusals, self.reads, self.writes, self.imports)

    def _target(self, column: Column) -> Table | None:
        return self.database.table(column.references.split(".")[0]) if column.references else None

    def _find_row(self) -> None:
        select = f"SELECT * FROM {identifier(self.table.name)} WHERE {identifier(self.table.key)} = ?"
        self.body += render.call(f"{self.row} = ctx.db.row", [render.text(select), f"({self.key},)"])
        self.body += render.not_found(self.row, self.table.noun, plain(self.table.key), self.key)
        self.refusals.append(("NOT_FOUND", f"if there is no such {self.table.noun}"))
        if self.action.kind == "transition":
            states = self.action.from_states
            present = f'{self.row}["{self.action.status_column}"]'
            test = f"{present} != {quoted(states[0])}" if len(states) == 1 else f"{present} not in {_tuple(states)}"
            words = f"{listing(states, 'or')}"
            inner = present.replace('"', "'")
            message = f'f"The {self.table.noun} is {{{inner}}}; it must be {words}."'
            self.body += [f"    if {test}:", *render.call("return ctx.refuse", ['"INVALID_STATE"', message], 8)]
            state = phrase(self.table.column(self.action.status_column))
            self.refusals.append(("INVALID_STATE", f"unless its {state} is {words}"))
        if not self.required - {self.key} and len(self.parameters) > 1 and self.action.kind == "update":
            given = ", ".join(parameter.name for parameter in self.parameters[1:])
            self.body += [f"    if all(value is None for value in ({given})):"]
            self.body += render.refusal("NOTHING_TO_CHANGE", "Give at least one new value.")
            self.refusals.append(("NOTHING_TO_CHANGE", "if no new value is given"))

    def _check_days(self) -> None:
        """Refuse what is not written as a day or a moment."""
        checked: dict[str, list[str]] = {}
        for name in self.action.parameters:
            column, parameter = self.table.column(name), parameter_name(name)
            if column.type not in _WRITTEN:
                continue
            pattern, example = _WRITTEN[column.type]
            given = "" if parameter in self.required else f"{parameter} is not None and "
            self.body.append(f'    if {given}not re.fullmatch(r"{pattern}", {parameter}):')
            self.body += render.refusal("INVALID_DATE", f"Give {parameter} as {example}.")
            checked.setdefault(example, []).append(phrase(column))
            self.imports = ("re",)
        for example, words in checked.items():
            verb = "is" if len(words) == 1 else "are"
            self.refusals.append(("INVALID_DATE", f"unless {listing(words)} {verb} written as {example}"))

    def _check_references(self) -> None:
        """Refuse keys of rows that do not exist."""
        missing = []
        for name in self.action.parameters:
            column = self.table.column(name)
            target = self._target(column)
            if target is None:
                continue
            parameter, variable = parameter_name(name), self._load(name)
            words = plain(column.references.split(".")[1])
            if parameter in self.required:
                self.body += render.not_found(variable, target.noun, words, parameter)
            else:
                message = f'f"There is no {target.noun} with {words} {{{parameter}!r}}."'
                self.body += [f"    if {parameter} is not None and {variable} is None:"]
                self.body += render.call("return ctx.refuse", ['"NOT_FOUND"', message], 8)
            missing.append(target.noun)
        if missing:
            self.refusals.append(("NOT_FOUND", f"if there is no such {listing(list(dict.fromkeys(missing)), 'or')}"))

    def _check_unique(self) -> None:
        """Refuse a value that another row has where the column is unique."""
        for name in self.action.parameters:
            column = self.table.column(name)
            if not column.unique or column.name == self.table.key:
                continue
            parameter, key = parameter_name(name), identifier(self.table.key)
            where = f"{identifier(name)} = ?" + ("" if self.create else f" AND {key} <> ?")
            select = render.text(f"SELECT 1 FROM {identifier(self.table.name)} WHERE {where}")
            values = f"({parameter},)" if self.create else f"({parameter}, {self.key})"
            self.body += [f"    if ctx.db.value({select}, {values}) is not None:"]
            message = f"Another {self.table.noun} has this {phrase(column)}."
            self.body += render.refusal("ALREADY_EXISTS", message)
            self.refusals.append(("ALREADY_EXISTS", f"if another {self.table.noun} has this {phrase(column)}"))

    def _rules_need_computed(self) -> bool:
        computed = {e.path for e in self.action.effects if "." not in e.path}
        named = {rule.path for rule in self.action.rules}
        for rule in self.action.rules:
            for value in rule.value if isinstance(rule.value, tuple) else (rule.value,):
                named |= set(_names(value))
        return bool(computed & named)

    def _load(self, column: str) -> str:
        """Read the row that a reference points to, once, and return its variable."""
        variable = self.scope.reference(column)
        if column not in self.loaded:
            self.loaded.add(column)
            target = self._target(self.table.column(column))
            assert target is not None
            self.reads.add(target.name)
            referred = identifier(self.table.column(column).references.split(".")[1])
            select = f"SELECT * FROM {identifier(target.name)} WHERE {referred} = ?"
            arguments = [render.text(select), f"({self.scope.own(column).text},)"]
            self.body += render.call(f"{variable} = ctx.db.row", arguments)
        return variable

    def _load_for(self, *names: Scalar) -> None:
        for name in names:
            for path in _names(name) if str(name).startswith(("$", "-$")) else [str(name)]:
                first, _, rest = path.partition(".")
                if rest and any(column.name == first and column.references for column in self.table.columns):
                    self._load(first)

    def _own_effects(self) -> list[Effect]:
        return [effect for effect in self.action.effects if "." not in effect.path]

    def _compute(self) -> None:
        """Compute the row's own columns that an effect of a create sets."""
        if not self.create:
            return
        for effect in self._own_effects():
            self._load_for(effect.value)
            column = self.table.column(effect.path)
            value = self.scope.value(effect.value, column)
            text = value.text
            if effect.operation == "add":
                start = self.scope.own(effect.path)
                text = f"({start.text} or 0) + {text}" if start.nullable else f"{start.text} + {text}"
            guards = [f"{name} is not None" for name in dict.fromkeys((*value.optional, *value.rows))]
            if guards:
                text = f"{text} if {' and '.join(guards)} else None"
            taken = {*(parameter.name for parameter in self.parameters), *self.scope.references.values()}
            variable = variable_name(effect.path, taken)
            self.body.append(f"    {variable} = {text}")
            self.scope.computed[effect.path] = variable

    def _insert(self, prefix: str) -> None:
        table, key = identifier(self.table.name), self.table.key
        if self.table.column(key).type == "integer":
            minted = f'ctx.db.value("SELECT COALESCE(MAX({identifier(key)}), 0) + 1 FROM {table}")'
        else:
            minted = f"ctx.ids.new({quoted(prefix)})"
        pairs = [(key, minted)]
        for column in self.table.columns:
            if column.name == key:
                continue
            pairs.append((column.name, self.scope.own(column.name).text))
        self.body += render.mapping(self.row, pairs)
        names = [identifier(name) for name, _ in pairs]
        marks = ", ".join("?" for _ in pairs)
        sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
        if len(sql) > render.WIDTH - 14:
            half = f"INSERT INTO {table} ({', '.join(names)})", f" VALUES ({marks})"
            first, second = (f"        {render.text(part)}" for part in half)
            values = f"        tuple({self.row}.values()),"
            self.body += ["    ctx.db.execute(", first, f"{second},", values, "    )"]
        else:
            self.body += render.call("ctx.db.execute", [render.text(sql), f"tuple({self.row}.values())"])

    def _update(self) -> None:
        """Set the row's own columns: the state, what is given, what is fixed, and what its effects say."""
        sets: list[str] = []
        values: list[str] = []
        if self.action.kind == "transition":
            sets.append(f"{identifier(self.action.status_column)} = {sql_literal(self.action.to_state)}")
        for name in self.action.parameters:
            optional = parameter_name(name) not in self.required
            sets.append(f"{identifier(name)} = " + (f"COALESCE(?, {identifier(name)})" if optional else "?"))
            values.append(parameter_name(name))
        for name, value in self.action.initial.items():
            self._assign(Effect(path=name, operation="set", value=value), self.table.column(name), sets, values)
        for effect in self._own_effects():
            self._assign(effect, self.table.column(effect.path), sets, values)
        self._execute_update(self.table, sets, [*values, self.key])

    def _assign(self, effect: Effect, column: Column, sets: list[str], values: list[str]) -> None:
        name = identifier(column.name)
        sql, value = assignment(self.scope, effect, column, name)
        if value is not None and (value.optional or value.rows):
            values.append(_guarded(value, "0" if effect.operation == "add" else "None"))
            sql = sql if effect.operation == "add" else f"{name} = COALESCE(?, {name})"
        elif value is not None:
            values.append(value.text)
        sets.append(sql)

    def _affect_others(self) -> None:
        """Apply the effects on rows that the action's row refers to, one statement a referred row."""
        by_reference: dict[str, list[Effect]] = {}
        for effect in self.action.effects:
            if "." in effect.path:
                by_reference.setdefault(effect.path.split(".")[0], []).append(effect)
        for reference, effects in by_reference.items():
            target, _ = resolve_path(self.database, self.table, effects[0].path)
            sets: list[str] = []
            values: list[str] = []
            for effect in effects:
                self._assign(effect, target.column(effect.path.split(".")[1]), sets, values)
            own = self.scope.own(reference)
            self.writes.add(target.name)
            referred = self.table.column(reference).references.split(".")[1]
            self._execute_update(target, sets, [*values, own.text], referred)

    def _execute_update(self, table: Table, sets: list[str], values: list[str], key: str = "") -> None:
        sql = f"UPDATE {identifier(table.name)} SET {', '.join(sets)} WHERE {identifier(key or table.key)} = ?"
        self.body += render.call("ctx.db.execute", [render.text(sql), render.values(values)])


def _guarded(value: Expression, otherwise: str) -> str:
    guards = [f"{name} is not None" for name in dict.fromkeys((*value.optional, *value.rows))]
    return f"{value.text} if {' and '.join(guards)} else {otherwise}"


def _names(value: object) -> list[str]:
    """Return the paths that a value names: "$quantity*$product_id.price" -> ["quantity", "product_id.price"]."""
    return re.findall(r"\$([A-Za-z_]\w*(?:\.\w+)?)", value) if isinstance(value, str) else []


def _tuple(states: tuple[str, ...]) -> str:
    return f"({', '.join(quoted(state) for state in states)})"


def refusal_sentences(action: Action, table: Table, refusals: list[tuple[str, str]]) -> str:
    """Return in words what a tool refuses, code by code: "Refuses with NOT_FOUND if ..., or OUT_OF_STOCK (...)."."""
    merged: dict[str, list[str]] = {}
    for code, reason in refusals:
        merged.setdefault(code, []).append(reason)
    rules = {rule.code for rule in action.rules}
    parts = []
    for code, reasons in merged.items():
        if code in rules:
            words = listing([reason.removeprefix("if not: ").rstrip(".") for reason in reasons], "or")
            parts.append(f"{code} ({words})")
        else:
            parts.append(f"{code} {listing(reasons, 'or')}")
    return f"Refuses with {listing(parts, 'or')}." if parts else f"Returns {one(table)}."
