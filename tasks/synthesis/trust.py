"""Whether a candidate is trusted: every gate in turn, the cheap ones first, and what is left goes to the attacker."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from schemas.base import content_hash
from schemas.task import AgentTask, Oracle, Verifier
from tasks.environment import verify
from tasks.rollout import ToolSignature
from tasks.synthesis import gates
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.attack import Attacker
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.long.build import LEAST as LONG
from tasks.synthesis.offer import offered_tools
from tasks.synthesis.order import order
from tasks.synthesis.replay import Bench, Run

STAGE = "synthesis"


def oracle_key(oracle: Oracle) -> str:
    """Return the hash that is the same for tasks with the same oracle, whatever their prompts."""
    return content_hash(oracle)[:24]


@dataclass
class Trust:
    """Sends candidates of one environment through the gates.

    Attributes:
        min_calls, max_calls: how many calls an oracle may make, unless the candidate says other bounds.
    """

    bench: Bench
    atlas: Atlas
    signatures: tuple[ToolSignature, ...]
    env_id: str
    min_calls: int
    max_calls: int
    attacker: Attacker

    def judge(
        self, candidate: Candidate | None, rng: random.Random, seen: Collection[str], skills: Sequence[str] | None,
        *, keep: bool = True,
    ) -> tuple[str, str, AgentTask | None]:  # fmt: skip
        """Return (gate, reason, None) for a rejected candidate, ("", "", task) for an accepted one.

        Args:
            seen: keys of oracles that must not come again.
            skills: what it must exercise one of; None for anything.
            keep: let the attacker learn from an accepted task at once; else `attacker.keep` is the caller's to call.
        """
        if candidate is None:
            return "unbound", "the walk or the families found nothing to bind", None
        if skills and not set(skills) & set(candidate.skills):
            return "off_target", f"exercises {candidate.skills}, wanted is one of {tuple(skills)}", None
        if oracle_key(candidate.oracle) in seen:
            return "duplicate", "a task with the same oracle is there already", None
        run = self.bench.execute(candidate.oracle, user=candidate.user)
        checks = (
            ("executes", lambda: gates.executes(candidate, run)),
            ("length", lambda: gates.length(candidate, run, *(candidate.bounds or (self.min_calls, self.max_calls)))),
            ("ambiguous", lambda: gates.independent(candidate, run, "ambiguous")),
            ("independent", lambda: gates.independent(candidate, run)),
            ("matters", lambda: gates.matters(candidate, run, self.atlas)),
            ("grounded", lambda: gates.grounded(candidate, run, self.atlas)),
            ("leak", lambda: gates.leak(candidate, run, self.atlas)),
            ("order", lambda: order(candidate, run, self.atlas, self.bench)),
            ("deterministic", lambda: self.bench.disagreement(candidate.oracle, run, user=candidate.user)),
        )
        for gate, check in checks:
            if reason := check():
                return gate, reason, None
        verifier = Verifier(
            answer=candidate.fields, expected_answer=dict(run.answer or {}), expected_changes=run.changes
        )
        other = self.bench.execute(candidate.oracle, 1, candidate.user)
        if not verify(verifier, other.answer, other.changes).success:
            return "oracle_reward", "the oracle itself does not get full reward in an episode of another seed", None
        if candidate.second_opinion is not None and (reason := candidate.second_opinion(self.bench, verifier, run)):
            return "independent", reason, None
        guessed = [self.bench.execute(candidate.oracle, 0, user) for user in candidate.guesses]
        right = sum(verify(verifier, guess.answer, guess.changes).success for guess in guessed)
        if right * 2 > len(guessed):
            return "user_needed", f"{right} of {len(guessed)} guesses at what the user keeps back are right", None
        if topic := self._needless(candidate, verifier):
            return "user_needed", f"whatever the user says of {topic!r}, the outcome is the same", None
        task = make_task(candidate, run, verifier, self.env_id, tuple(s.name for s in self.signatures))
        gate, reason, task = self.attacker.attack(task, run, rng, keep=keep)
        if task is None or "long" not in task.classes or task.length >= LONG:
            return gate, reason, task
        if candidate.bounds is not None:
            return "shortened", f"meant to be long, but {task.length} calls do", None
        return "", "", task.model_copy(update={"classes": tuple(c for c in task.classes if c != "long")})

    def _needless(self, candidate: Candidate, verifier: Verifier) -> str:
        """Return a topic among several that need not be asked for, since other values do as well; '' if all matter."""
        user = candidate.user
        if user is None or len(user.facts) < 2:
            return ""
        for place, fact in enumerate(user.facts):
            others = (guess.facts[place] for guess in candidate.guesses)
            told = ((*user.facts[:place], other, *user.facts[place + 1 :]) for other in others)
            users = (user.model_copy(update={"facts": facts}) for facts in told)
            runs = (self.bench.execute(candidate.oracle, 0, other) for other in users)
            if candidate.guesses and all(verify(verifier, run.answer, run.changes).success for run in runs):
                return fact.topic
        return ""


def make_task(candidate: Candidate, run: Run, verifier: Verifier, env_id: str, tools: tuple[str, ...]) -> AgentTask:
    """Return the task of an executed candidate, offering some of `tools`; difficulty and kill rate are still open."""
    task_id = "task-" + content_hash([env_id, candidate.oracle, candidate.prompt])[:16]
    tools = tuple(name for name in tools if name not in candidate.withheld)
    return AgentTask(
        task_id=task_id,
        env_id=env_id,
        kind=candidate.kind,
        prompt=candidate.prompt,
        tools=offered_tools(candidate.oracle, run.tool_steps, tools, random.Random(task_id)),
        oracle=candidate.oracle,
        oracle_calls=len(run.steps),
        expected_answer=dict(run.answer or {}),
        verifier=verifier,
        template=candidate.template,
        skills=candidate.skills,
        writes=bool(run.changes),
        classes=(*(("long",) if len(run.steps) >= LONG else ()), *candidate.classes),
        user=candidate.user,
        author=candidate.author,
        seed=candidate.seed,
    )
