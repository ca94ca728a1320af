"""Rules and effects as Python source: names stand for parameters, columns of the row, or of a referred row."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from schemas.actions import CLOCK, resolve_path
from schemas.base import Scalar
from schemas.database import Action, Column, Database, Effect, Rule, Table
from tasks.coding.words import parameter_name, snake, stem, variable_name

_REFUSING = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_DECIMALS = 6
"""Computed numbers are rounded to so many decimals, so that 3 * 19.99 is 59.97."""


@dataclass(frozen=True)
class Expression:
    """Python source of a value; `needs` are the optional names that must not be None for it to have one."""

    text: str
    nullable: bool = False
    optional: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    column: Column | None = None


@dataclass
class Scope:
    """What an action's names stand for in its tool.

    `row` is the variable that holds the action's row ('' in a create, which has none yet). `computed` maps the row's
    own columns to local variables once an effect has set them; `references` maps reference columns to the variables
    that hold the rows which they point to.
    """

    database: Database
    table: Table
    action: Action
    row: str
    computed: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)

    def parameter(self, name: str) -> str | None:
        """Return the Python parameter for a column, None if the caller does not give it."""
        return parameter_name(name) if name in self.action.parameters else None

    def own(self, name: str) -> Expression:
        """Return a column of the action's row: what the caller gives, what is fixed or computed, or what is there."""
        column = self.table.column(name)
        parameter = self.parameter(name)
        if parameter is not None:
            optional = (parameter,) if column.nullable else ()
            return Expression(parameter, column.nullable, optional, column=column)
        if name in self.computed:
            return Expression(self.computed[name], column=column)
        if not self.row:
            return self.literal(self.action.initial.get(name), column)
        return Expression(f'{self.row}["{name}"]', column.nullable, column=column)

    def path(self, path: str) -> Expression:
        """Return the value at a rule's or effect's path."""
        first, _, rest = path.partition(".")
        if not rest:
            return self.own(first)
        _, column = resolve_path(self.database, self.table, path)
        reference = self.own(first)
        variable = self.reference(first)
        rows = (variable,) if reference.nullable and not reference.optional else ()
        return Expression(f'{variable}["{rest}"]', column.nullable, reference.optional, rows, column)

    def value(self, value: Scalar, target: Column | None = None) -> Expression:
        """Return a rule's or effect's value: a scalar, "$name", "-$name", "$a*$b" or "$clock"."""
        if not isinstance(value, str) or "$" not in value or value == CLOCK:
            return self.literal(value, target)
        negative = value.startswith("-")
        factors = [self._factor(part) for part in value.removeprefix("-").split("*")]
        if len(factors) == 1 and not negative:
            return factors[0]
        texts = [f"({one.text} or 0)" if one.nullable and not one.optional else one.text for one in factors]
        text = " * ".join(texts)
        if len(factors) > 1 and (target is None or target.type == "number"):
            text = f"round({text}, {_DECIMALS})"
        optional = tuple(name for one in factors for name in one.optional)
        rows = tuple(name for one in factors for name in one.rows)
        return Expression(f"-{text}" if negative else text, False, optional, rows, target)

    def _factor(self, part: str) -> Expression:
        return self.path(part[1:]) if part.startswith("$") else Expression(part)

    def literal(self, value: Scalar, target: Column | None) -> Expression:
        """Return a constant, or the present time where the value is "$clock"."""
        if value == CLOCK:
            today = target is not None and target.type == "date"
            return Expression("ctx.clock.today()" if today else "ctx.clock.now()", column=target)
        return Expression(quoted(value), value is None, column=target)

    def reference(self, column: str) -> str:
        """Return the variable for the row that a reference column points to."""
        if column not in self.references:
            target = self.database.table(self.table.column(column).references.split(".")[0])
            siblings = [c for c in self.table.columns if c.references.split(".")[0] == target.name]
            word, own = snake(target.noun), stem(self.table.column(column))
            if len(siblings) > 1 or target.name == self.table.name:
                word = own if own.endswith(word) else f"{own}_{word}"
            taken = {self.row, *(parameter_name(name) for name in self.action.parameters), *self.references.values()}
            self.references[column] = variable_name(word, {*taken, parameter_name(self.table.key)})
        return self.references[column]


def quoted(value: Scalar) -> str:
    """Return a scalar as Python source, strings in double quotes."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def sql_literal(value: Scalar) -> str:
    """Return a scalar as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def refusing_condition(scope: Scope, rule: Rule) -> str:
    """Return the Python condition under which a rule refuses.

    A missing cell fails an ordered comparison; an optional parameter that was not given is not judged.
    """
    left = scope.path(rule.path)
    if isinstance(rule.value, tuple):
        members = [scope.value(value, left.column) for value in rule.value]
        listed = ", ".join(member.text for member in members)
        test = f"{left.text} not in ({listed}{',' if len(members) == 1 else ''})"
        right = Expression("", rows=tuple(name for member in members for name in member.rows))
    else:
        right = scope.value(rule.value, left.column)
        test = _comparison(left, rule, right)
        if rule.operator not in ("==", "!="):
            for side in (right, left):
                if side.nullable and not side.optional:
                    test = f"{side.text} is None or {test}"
    for name in dict.fromkeys((*left.rows, *right.rows)):
        test = f"{name} is None or {test}"
    optional = dict.fromkeys((*left.optional, *right.optional))
    if optional:
        test = f"({test})" if " or " in test else test
        test = " and ".join([*(f"{name} is not None" for name in optional), test])
    return test


def _comparison(left: Expression, rule: Rule, right: Expression) -> str:
    flag = left.column is not None and left.column.type == "boolean" and not left.nullable
    if flag and rule.operator in ("==", "!=") and not isinstance(rule.value, str):
        wanted = bool(rule.value) == (rule.operator == "==")
        return f"not {left.text}" if wanted else left.text
    if right.text == "None":
        return f"{left.text} is {'not ' if rule.operator == '==' else ''}None"
    return f"{left.text} {_REFUSING[rule.operator]} {right.text}"


def assignment(scope: Scope, effect: Effect, column: Column, name: str) -> tuple[str, Expression | None]:
    """Return "column = ..." as SQL for an effect, and the Python value of its placeholder (None if it has none)."""
    operand = scope.value(effect.value, column)
    constant = "$" not in str(effect.value)
    if effect.operation == "set":
        if constant:
            return f"{name} = {sql_literal(effect.value)}", None
        return f"{name} = ?", operand
    sign, text = ("-", operand.text[1:]) if operand.text.startswith("-") else ("+", operand.text)
    present = f"COALESCE({name}, 0)" if column.nullable else name
    if not constant and operand.nullable:
        text = f"({text} or 0)"
    sql = f"{present} {sign} {text if constant else '?'}"
    if column.type == "number":
        sql = f"ROUND({sql}, {_DECIMALS})"
    return f"{name} = {sql}", None if constant else Expression(text, optional=operand.optional, rows=operand.rows)
