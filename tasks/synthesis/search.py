"""Search for a shorter solution of a task: the fewest calls after which its answer and its writes are grounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.task import AgentTask, Call
from tasks.dialogue import ASK_USER, rule_user
from tasks.environment import verify
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.draft import renumber
from tasks.synthesis.gates import is_grounded, numbers_in, scalars
from tasks.synthesis.replay import Bench, Run
from tasks.synthesis.search_ask import Question, questions_of
from tasks.synthesis.search_bound import least_calls
from tasks.synthesis.search_cover import Move, cover
from tasks.synthesis.search_needs import Needs, needs_of
from tasks.synthesis.search_pool import Lookout, everything
from tasks.synthesis.sight import Listing, Sight

HALF = 0.5
"""A solution of less than this share of the oracle's calls makes the oracle's length a wrong label."""


@dataclass(frozen=True)
class Shortest:
    """What the search for a shorter solution found.

    Attributes:
        calls: the shortest episode found, which the sandbox ran and the verifier gave full reward; () if none is
            shorter than the oracle.
        found: its number of calls (the oracle's, if none is shorter): an upper bound of what the task takes.
        least: the proved lower bound (`least_calls`).
        exhausted: whether the search ended because nothing shorter exists among the moves that it knows.
    """

    calls: tuple[Call, ...]
    found: int
    least: int
    exhausted: bool

    def length(self, oracle_calls: int) -> int:
        """Return the length to label the task with: the oracle's, unless less than half of it suffices."""
        return self.found if self.found < HALF * oracle_calls else oracle_calls


class ShorterSearch:
    """Searches one environment's tasks; what reads show in the initial state is looked up once for all of them."""

    def __init__(self, bench: Bench, atlas: Atlas) -> None:
        self.bench, self.atlas = bench, atlas
        self.lookout = Lookout(bench, atlas)

    def search(self, task: AgentTask, run: Run) -> Shortest:
        """Return the shortest solution found for a task whose oracle's episode is `run`.

        The reads considered are those of `Lookout.pool` and the oracle's own, before all writes or after all of them;
        writes are the oracle's, in its order; questions to the user are the oracle's, each once what it must follow has
        been told. An episode counts if every argument comes from the prompt, the schema, a reply or an earlier
        observation, if it has shown every fact that the oracle's answer follows from (a filter that lists all rows
        shows every statistic about them), if the user has told all that the oracle asks for, and if the real verifier
        gives it full reward.
        """
        oracle_calls = len(run.steps)
        least = least_calls(self.atlas, run.changes, task.prompt) + (task.user is not None)
        if least >= oracle_calls:
            return Shortest((), oracle_calls, least, True)
        needs = needs_of(self.atlas, task.oracle, run)
        plan = _Plan(self, task, run, needs)
        calls, exhausted = plan.solve(oracle_calls)
        if calls is None:
            return Shortest((), oracle_calls, least, exhausted)
        if self._holds(task, run, needs, calls):
            return Shortest(calls, len(calls), least, exhausted)
        return Shortest((), oracle_calls, least, False)

    def _holds(self, task: AgentTask, run: Run, needs: Needs, calls: Sequence[Call]) -> bool:
        """Run a solution in the sandbox; say whether it is grounded and the verifier gives it full reward."""
        tools = [number for number, call in enumerate(calls) if call.tool != ASK_USER]
        places = {number: place for place, number in enumerate(tools)}
        plain = [Call(tool=calls[n].tool, arguments=renumber(calls[n].arguments, places)) for n in tools]
        outcome = self.bench.batch([plain])[0]
        numbers, seen, user = numbers_in(task.prompt), set[Any](), rule_user(task, 0)
        facts = {fact.says: fact for fact in task.user.facts} if task.user is not None else {}
        steps = iter(outcome.steps)
        for call in calls:
            if call.tool == ASK_USER:
                reply = user.reply(call.arguments["question"]) if user is not None else ""
                if reply not in facts:
                    return False
                question = Question(call, reply, facts[reply])
                numbers |= question.numbers
                seen |= question.texts
                continue
            step = next(steps, None)
            if step is None:
                return False
            tool = self.atlas.tools[step.tool]
            for name, argument in step.arguments.items():
                free = name in everything(tool).arguments
                if not free and not all(
                    is_grounded(v, task.prompt, numbers, seen, tool, name) for v in scalars(argument)
                ):
                    return False
            seen.update(value for value in scalars(step.observation) if value is not None)
        refused = sum("error" in step.observation for step in outcome.steps)
        expected = sum("error" in run.steps[place].observation for place in needs.places)
        return refused == expected and verify(task.verifier, run.answer, outcome.changes).success


class _Plan:
    """The search for one task, in bits: values that arguments need, then facts that the answer needs."""

    def __init__(self, search: ShorterSearch, task: AgentTask, run: Run, needs: Needs) -> None:
        self.atlas, self.bench, self.task, self.run, self.needs = search.atlas, search.bench, task, run, needs
        own = [
            Call(tool=step.tool, arguments=step.arguments)
            for n, step in enumerate(run.steps)
            if n not in needs.places and step.tool != ASK_USER
        ]
        self.questions = questions_of(task, run)
        told = "\n".join([task.prompt, *(question.reply for question in self.questions)])
        pool = [*search.lookout.pool(told, task.tools, needs.keys), *search.lookout.look(own)]
        self.early = [sight for sight in pool if not sight.refused]
        self.written = [
            Sight(call, self.atlas.tools[call.tool], run.steps[n].observation)
            for call, n in zip(needs.writes, needs.places, strict=True)
        ]
        self.late = self._late(own) if needs.writes else []
        self._numbers = numbers_in(task.prompt)
        wanted = (v for call in (*(s.call for s in (*self.early, *self.late)), *needs.writes) for v in self._open(call))
        self.values = {value: number for number, value in enumerate(dict.fromkeys(wanted))}

    def _late(self, own: Iterable[Call]) -> list[Sight]:
        """Return what reads show after the writes, if facts are missing that nothing before them shows."""
        shown = (*self.early, *self.written)
        missing = [f for f in self.needs.facts if not any(sight.shows(f) for sight in shown)]
        if not missing:
            return []
        tables = {change.table for change in self.run.changes}
        calls = list(own) + [sight.call for sight in self.early if sight.tool.table in tables]
        numbers = {place: number for number, place in enumerate(self.needs.places)}
        writes = [Call(tool=c.tool, arguments=renumber(c.arguments, numbers)) for c in self.needs.writes]
        steps = self.bench.batch([[*writes, *calls]])[0].steps[len(writes) :]
        sights = [Sight(c, self.atlas.tools[c.tool], s.observation) for c, s in zip(calls, steps, strict=False)]
        return [sight for sight in sights if not sight.refused]

    def _open(self, call: Call) -> list[Any]:
        """Return the values among a call's arguments that must have been observed."""
        tool = self.atlas.tools[call.tool]
        free = everything(tool).arguments
        return [
            value
            for name, argument in call.arguments.items()
            if name not in free and not (isinstance(argument, dict) and "$ref" in argument)
            for value in scalars(argument)
            if not is_grounded(value, self.task.prompt, self._numbers, set(), tool, name)
        ]

    def _mask(self, values: Iterable[Any]) -> int:
        return sum(1 << self.values[value] for value in set(values))

    def _shown(self, sight: Sight) -> int:
        mask = self._mask(value for value in self.values if sight.tells(value))
        for number, fact in enumerate(self.needs.facts, len(self.values)):
            mask |= sight.shows(fact) << number
        return mask

    def solve(self, most: int) -> tuple[tuple[Call, ...] | None, bool]:
        """Return fewer than `most` calls, None if none were found, and whether the search was exhausted."""
        early = [Move(n, self._mask(self._open(s.call)), self._shown(s)) for n, s in enumerate(self.early)]
        asked = [self._asked(n, place) for place, n in enumerate(range(len(early), len(early) + len(self.questions)))]
        late = [
            Move(n, self._mask(self._open(s.call)), self._shown(s), late=True)
            for n, s in enumerate(self.late, len(early) + len(asked))
        ]
        writes = [
            Move(n, self._mask(self._open(s.call)), self._shown(s), write=number)
            for number, (n, s) in enumerate(enumerate(self.written, len(early) + len(asked) + len(late)))
        ]
        goal = ((1 << len(self.needs.facts) + len(asked)) - 1) << len(self.values)
        for move in writes:
            goal |= move.requires
        found = cover([*early, *asked, *late], writes, goal, most)
        return None if found.moves is None else self._calls(found.moves), found.exhausted

    def _asked(self, name: int, place: int) -> Move:
        """Return the move that asks a question: it follows those whose facts must have been told, and, where the user
        wants to hear a count, the lists that it can be read off."""
        question, first = self.questions[place], len(self.values) + len(self.needs.facts)
        requires = sum(1 << first + n for n, other in enumerate(self.questions) if question.follows(other))
        if question.fact.mentions:
            lists = (n for n, need in enumerate(self.needs.facts, len(self.values)) if isinstance(need, Listing))
            requires |= sum(1 << n for n in lists)
        provides = 1 << first + place
        return Move(name, requires, provides | self._mask(v for v in self.values if question.tells(v)))

    def _calls(self, moves: Sequence[Move]) -> tuple[Call, ...]:
        sights = [*self.early, *self.questions, *self.late, *self.written]
        numbers = {self.needs.places[m.write]: n for n, m in enumerate(moves) if m.write is not None}
        return tuple(
            Call(tool=sights[m.name].call.tool, arguments=renumber(sights[m.name].call.arguments, numbers))
            for m in moves
        )
