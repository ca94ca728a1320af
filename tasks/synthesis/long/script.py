"""Compile a playbook to the module text of its oracle: `def solve(call)`, in as few calls as the tools allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.dialogue import ASK_USER
from tasks.synthesis.atlas import Row
from tasks.synthesis.families.kit import Kit
from tasks.synthesis.filters import argument_value
from tasks.synthesis.long.playbook import Case, Given, Move, Named, Playbook, Stat
from tasks.synthesis.long.reading import Reader, Reading, mean_name


@dataclass(frozen=True)
class Script:
    """A compiled playbook: the lines of `solve`, the calls that reading takes, and the tools that it names."""

    lines: tuple[str, ...]
    reads: int
    tools: frozenset[str]

    @property
    def text(self) -> str:
        """The module's source text."""
        body = "\n".join(f"    {line}" for line in self.lines)
        head = "import re\n\n\n" if any("re." in line for line in self.lines) else ""
        return f"{head}def solve(call):\n{body}\n"


def compile_playbook(kit: Kit, playbook: Playbook, rows: Sequence[Row]) -> Script | None:
    """Return the script of a playbook that means `rows`; None if the tools cannot read what it needs."""
    return _Compiler(kit, playbook, rows).compile()


class _Compiler:
    def __init__(self, kit: Kit, playbook: Playbook, rows: Sequence[Row]) -> None:
        self.kit, self.playbook, self.rows = kit, playbook, rows
        self.topics = topics(playbook)
        self.told = {topic: f"told_{number}" for number, topic in enumerate(self.topics, 1)}
        self.reader = Reader(kit, self.told)
        self.lines: list[str] = []
        self.reads = 0
        self.tools: set[str] = set()

    def compile(self) -> Script | None:
        for topic, value in self.topics.items():
            if topic != self.playbook.counted:
                self.lines += ask_lines(self.told[topic], repr(topic), value)
        self.reads += len(self.topics)
        playbook = self.playbook
        parties = list({id(p.row): p for p in _named(playbook)}.values())
        keys = ", ".join(self._party(owner) for owner in playbook.owners)
        if not all(self._take(step) for step in (self._parties(parties), self._records(keys))):
            return None
        if playbook.owners and playbook.listed_by != playbook.owned_by:
            self.lines.append(f"rows = [row for row in rows if row[{playbook.owned_by!r}] in ({keys},)]")
        if not self._take(self._related()):
            return None
        behind = [test for test in playbook.tests if any("." in path for path in test.paths)]
        if behind:
            self.lines.append(f"rows = [row for row in rows if {self.reader.tests(behind)}]")
        if playbook.order is not None:
            column, descending = playbook.order
            reverse = ", reverse=True" if descending else ""
            self.lines.append(f"rows = sorted(rows, key=lambda row: row[{column!r}]{reverse})")
        self._work()
        self.tools |= {move.tool.name for move in playbook.moves}
        return Script(tuple(self.lines), self.reads, frozenset(self.tools))

    def _take(self, reading: Reading | None) -> bool:
        if reading is None:
            return False
        self.lines += reading.lines
        self.reads += reading.calls
        self.tools |= reading.tools
        return True

    def _records(self, keys: str) -> Reading | None:
        """Return the lines that list the records; `keys` are the expressions of the owners' keys."""
        playbook = self.playbook
        if not playbook.listed_by:
            own = [test for test in playbook.tests if all("." not in path for path in test.paths)]
            return self.reader.rows(playbook.table, own)
        parties = f"[{keys}]" if playbook.owners and playbook.listed_by == playbook.owned_by else ""
        return self.reader.by_party(playbook.table, playbook.listed_by, playbook.tests, parties)

    def _parties(self, parties: Sequence[Named]) -> Reading | None:
        """Return the lines that look up all named rows, table by table."""
        lines: list[str] = []
        calls, tools = 0, frozenset[str]()
        for table in dict.fromkeys(party.table.name for party in parties):
            found = self.reader.named([party for party in parties if party.table.name == table], f"named_{table}")
            if found is None:
                return None
            lines += found.lines
            calls, tools = calls + found.calls, tools | found.tools
        return Reading(tuple(lines), calls, tools)

    def _party(self, party: Named) -> str:
        label = self.reader.value(party.label, party.topic)
        return f"named_{party.table.name}[{label}][{party.table.key!r}]"

    def _related(self) -> Reading | None:
        """Return the lines that read the rows behind the references that tests, limits and arguments follow."""
        playbook, wanted = self.playbook, {}
        tests = [*playbook.tests, *(test for case in playbook.cases for test in case.tests)]
        paths = [path for test in tests for path in test.paths]
        paths += [playbook.cap.per] if playbook.cap is not None else []
        paths += [given.path for move in playbook.moves for given in move.given]
        for path in paths:
            first, _, rest = path.partition(".")
            if rest:
                wanted.setdefault(first, set()).add(rest)
        lines: list[str] = []
        calls, tools = 0, frozenset[str]()
        for reference, columns in sorted(wanted.items()):
            found = self.reader.related(playbook.table, reference, columns, self.rows, playbook.one_by_one)
            if found is None:
                return None
            lines += found.lines
            calls, tools = calls + found.calls, tools | found.tools
        return Reading(tuple(lines), calls, tools)

    def _work(self) -> None:
        playbook, n = self.playbook, len(self.playbook.cases)
        used = {case for stat in playbook.stats for case in stat.cases}
        self.counts_refusals = any(stat.which == "refused" for stat in playbook.stats)
        self.lines += [f"done_{k} = []" for k in range(n) if k in used]
        self.lines += ["refused = []"] if self.counts_refusals else []
        if any(stat.kind == "code" for stat in playbook.stats):
            self.lines.append("codes = []")
        if playbook.careful:
            self._careful()
        for path in dict.fromkeys(test.path for case in playbook.cases for test in case.tests if test.average):
            self.lines.append(f"{mean_name(path)} = sum(row[{path!r}] for row in rows) / len(rows)")
        if playbook.counted:
            topic = playbook.counted
            self.lines += ask_lines(self.told[topic], f"f'{{len(rows)}} {topic}'", self.topics[topic])
        if playbook.cap is not None:
            self.lines.append("sums = {}")
        self.lines.append("for row in rows:")
        word = "if"
        for number, case in enumerate(playbook.cases):
            condition = self._condition(number, case)
            if condition == "True" and number:
                head = "    else:"
            elif condition == "True":
                head = "    if True:"
            else:
                head = f"    {word} {condition}:"
            self.lines += [head, *(f"        {line}" for line in self._case(number, case, used))]
            word = "elif"
        fields = ", ".join(f"{stat.name!r}: {self._stat(stat)}" for stat in playbook.stats)
        self.lines.append(f"return {{{fields}}}")

    def _condition(self, number: int, case: Case) -> str:
        parts = [self.reader.test(test) for test in case.tests]
        cap = self.playbook.cap
        if cap is not None and cap.case == number:
            group = self.reader.cell(cap.per) if cap.per else "''"
            limit = self.reader.value(cap.limit, cap.topic)
            parts.append(f"sums.get({group}, 0) + row[{cap.measure!r}] <= {limit}")
        return " and ".join(parts) or "True"

    def _case(self, number: int, case: Case, used: set[int]) -> list[str]:
        lines: list[str] = []
        for place, move in enumerate(case.moves):
            if place == 0 and case.instead is not None:
                lines += [f"seen = {self._call(move)}", "if 'error' in seen:"]
                if any(stat.kind == "code" for stat in self.playbook.stats):
                    lines.append("    codes.append(seen['error']['code'])")
                lines += ["    refused.append(row)"] if self.counts_refusals else []
                lines += [f"    {self._call(other)}" for other in case.instead]
                lines.append("    continue")
            else:
                lines.append(self._call(move))
        if number in used:
            lines.append(f"done_{number}.append(row)")
        cap = self.playbook.cap
        if cap is not None and cap.case == number:
            group = self.reader.cell(cap.per) if cap.per else "''"
            lines.append(f"sums[{group}] = sums.get({group}, 0) + row[{cap.measure!r}]")
        return lines or ["continue"]

    def _careful(self) -> None:
        """Look at all records before the first is changed; try one that is forbidden, to learn the reason."""
        case = self.playbook.cases[0]
        move = case.moves[0]
        forbidden = " or ".join(f"not ({self.reader.test(test)})" for test in case.tests)
        report = {stat.name: self._stat(stat) for stat in self.playbook.stats}
        declined = dict(report)
        for stat in self.playbook.stats:
            if stat.kind == "flag":
                declined[stat.name] = "False"
            elif stat.kind == "code":
                declined[stat.name] = f"{self._call(move, 'blocked[0]')}['error']['code']"
        fields = ", ".join(f"{name!r}: {value}" for name, value in declined.items())
        self.lines += [
            f"blocked = [row for row in rows if {forbidden}]",
            "if blocked:",
            *(["    refused = blocked"] if self.counts_refusals else []),
            f"    return {{{fields}}}",
        ]

    def _call(self, move: Move, row: str = "row") -> str:
        key = self.playbook.table.key
        arguments = [f"{move.key}={row}[{key!r}]"] if move.key else []
        arguments += [f"{given.parameter}={self._given(move, given)}" for given in move.given]
        return f"call({', '.join([repr(move.tool.name), *arguments])})"

    def _given(self, move: Move, given: Given) -> str:
        if given.path:
            return self.reader.cell(given.path)
        if isinstance(given.value, Named):
            return self._party(given.value)
        field = next(field for field in move.tool.inputs if field.path == given.parameter)
        return self.reader.value(argument_value(field, given.value), given.topic)

    def _stat(self, stat: Stat) -> str:
        if stat.kind == "flag":
            return "True"
        if stat.kind == "code":
            return "codes[0] if codes else ''"
        rows = {"all": "rows", "refused": "refused"}.get(stat.which) or " + ".join(f"done_{k}" for k in stat.cases)
        if stat.kind == "count":
            return f"len({rows})"
        rows = f"({rows})" if len(stat.cases) > 1 else rows
        column = self.playbook.table.column(stat.measure)
        total = f"sum(row[{stat.measure!r}] for row in {rows})"
        return total if column.type == "integer" else f"round({total}, 2)"


def topics(playbook: Playbook) -> dict[str, object]:
    """Return what must be asked for -> the value that the user tells, in the order in which it is needed."""
    found: dict[str, object] = {}
    for party in _named(playbook):
        if party.topic:
            found.setdefault(party.topic, party.label)
    for test in [*playbook.tests, *(test for case in playbook.cases for test in case.tests)]:
        if test.topic:
            found.setdefault(test.topic, test.value)
    if playbook.cap is not None and playbook.cap.topic:
        found.setdefault(playbook.cap.topic, playbook.cap.limit)
    for move in playbook.moves:
        for given in move.given:
            if given.topic:
                found.setdefault(given.topic, given.value)
    return found


def ask_lines(variable: str, question: str, value: object) -> list[str]:
    """Return the script lines that ask a question (an expression) and take the value out of the reply."""
    reply = f"call({ASK_USER!r}, question={question})['reply']"
    if isinstance(value, str):
        return [f'{variable} = re.search(r\'"([^"]+)"\', {reply}).group(1)']
    kind = "float" if isinstance(value, float) else "int"
    return [f"{variable} = {kind}(re.search(r'-?\\d+(?:\\.\\d+)?', {reply}).group())"]


def _named(playbook: Playbook) -> list[Named]:
    parties = list(playbook.owners)
    parties += [given.value for move in playbook.moves for given in move.given if isinstance(given.value, Named)]
    return parties
