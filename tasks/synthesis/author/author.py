"""The task writer that a model plays for graph tasks: it reviews accepted chains and tells their requests anew."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from schemas.environment import Rejection
from schemas.models import Role
from schemas.task import AgentTask
from tasks.models import Gateway, ModelError, render
from tasks.synthesis import gates
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.author.answers import Comparison, Retelling, Review
from tasks.synthesis.author.facts import Facts, retelling_fault, straight
from tasks.synthesis.author.steps import done_twice, field_notes, told_steps
from tasks.synthesis.candidate import Candidate
from tasks.synthesis.replay import Run
from tasks.synthesis.trust import STAGE, Trust

STYLES = (
    "a short message to a colleague", "brisk and matter-of-fact", "friendly, in full sentences",
    "a note from a busy manager", "polite, as to a service desk", "plain, one thing after the other",
)  # fmt: skip

_FRONT_MATTER = re.compile(
    r"(?:\b(?:Owners?|Authors?|Reviewers?|Status|Version|Date|Last (?:change|changed|update|updated)):"
    r"\s*[^·|\n]{1,80}?\s*(?:[·|\n]|\.(?:\s|$)|$)\s*){2,}"
)


@dataclass
class Author:
    """Writes with the model of the role task_writer; the judge's model, where there is one, reads what it wrote.

    A step that the model fails is done by rules, and `notes` says so. When the cap on money is reached, no model is
    asked any more.
    """

    gateway: Gateway
    atlas: Atlas
    notes: list[Rejection] = field(default_factory=list)
    stopped: bool = False

    @property
    def name(self) -> str:
        """The model's name, as tasks record it."""
        return self.gateway.model_id("task_writer").partition(" ")[0]

    @property
    def reader(self) -> Role:
        """Who reads what the writer wrote: another model if one is configured."""
        return "judge" if self.gateway.has("judge") else "task_writer"

    @property
    def env_id(self) -> str:
        """The environment that it writes for."""
        return self.atlas.database.env_id

    @cached_property
    def about(self) -> str:
        """Return what the environment is about, for prompts; a document's lines on owner, status and dates are none."""
        return f"{self.atlas.database.name}: {_FRONT_MATTER.sub('', self.atlas.database.description)}"

    def improve(
        self, candidate: Candidate, task: AgentTask, trust: Trust, seen: Collection[str],
        skills: Sequence[str] | None, name: str,
    ) -> tuple[str, str, AgentTask | None]:  # fmt: skip
        """Return (gate, reason, None) for a chain that makes no sense, else ("", "", task).

        The task is the one whose request the model told anew, if that passes every gate again; else the given one,
        which is learnt from then.

        Args:
            task: the accepted task, which `trust` has not learnt from.
            name: what the choices of tone and red team are drawn by.
        """
        run = trust.bench.execute(candidate.oracle, user=candidate.user)
        if reason := self._absurd(candidate, run):
            return "chain_review", reason, None
        rng = random.Random(f"{name}/retold")
        retold = self._retold(candidate, run, rng)
        if retold is not None:
            gate, reason, better = trust.judge(retold, rng, seen, skills)
            if better is not None:
                return "", "", better
            self.note(candidate.key, gate, f"the request as {self.name} told it: {reason}")
        trust.attacker.keep(task)
        return "", "", task

    def note(self, key: str, gate: str, reason: str) -> None:
        """Write down that a model's step failed and was done by rules."""
        self.notes.append(Rejection(stage=STAGE, key=key, gate=gate, reason=reason, env_id=self.env_id))

    def failed(self, key: str, step: str, error: ModelError) -> None:
        """Write down how a model failed a step; after `model_cost` none is asked again."""
        self.stopped = self.stopped or error.gate == "model_cost"
        self.note(key, error.gate, f"{step}: {error.reason}")

    def _absurd(self, candidate: Candidate, run: Run) -> str:
        """Return why the chain is no sensible request, or ''. What a rule can see costs no call."""
        if self.stopped:
            return ""
        if reason := done_twice(run, self.atlas):
            return reason
        prompt = render(
            "reviewer/chain", about=self.about, request=candidate.prompt, steps=told_steps(candidate, self.atlas)
        )
        try:
            review = self.gateway.ask(self.reader, prompt, Review, env_id=self.env_id)
        except ModelError as error:
            self.failed(candidate.key, "chain review", error)
            return ""
        return "" if review.sensible else review.reason

    def _retold(self, candidate: Candidate, run: Run, rng: random.Random) -> Candidate | None:
        """Return the candidate with its request told anew, or None if the model did not manage."""
        if self.stopped:
            return None
        facts = Facts.of(candidate.prompt, candidate.fields)
        prompt = render(
            "author/retell", about=self.about, draft=facts.draft, steps=told_steps(candidate, self.atlas),
            texts=[f'"{text}"' for text in facts.texts], numbers=[f"{number:g}" for number in facts.numbers],
            fields=facts.fields, meanings="\n".join(f"{f.name}: {f.description}" for f in facts.fields),
            notes=field_notes(candidate, self.atlas), style=rng.choice(STYLES),
        )  # fmt: skip

        def told(answer: Retelling) -> Candidate:
            return replace(candidate, prompt=straight(answer.request), author=self.name)

        def fault(answer: Retelling) -> str:
            new = told(answer)
            return (
                retelling_fault(new.prompt, facts, self._is_label)
                or _leak(gates.leak(new, run, self.atlas))
                or gates.grounded(new, run, self.atlas)
                or self._differs(facts.draft, new.prompt)
            )

        try:
            return told(self.gateway.ask("task_writer", prompt, Retelling, env_id=self.env_id, check=fault))
        except ModelError as error:
            self.failed(candidate.key, "retelling", error)
            return None

    def _differs(self, draft: str, text: str) -> str:
        prompt = render("reviewer/same", draft=draft, request=text)
        found = self.gateway.ask(self.reader, prompt, Comparison, env_id=self.env_id)
        told = found.difference or "it does not say what"
        return "" if found.same else f"A reader says that it does not ask for the same as the draft: {told}"

    def _is_label(self, word: str) -> bool:
        return word in self._label_words

    @cached_property
    def _label_words(self) -> frozenset[str]:
        """Return the capitalised words of the names by which records are known."""
        found: set[str] = set()
        for table in self.atlas.tables.values():
            if table.label:
                values = (row.get(table.label) for row in self.atlas.rows[table.name])
                found.update(word for v in values if isinstance(v, str) for word in re.findall(r"\b[A-Z]\w{2,}", v))
        return frozenset(found)


def _leak(reason: str) -> str:
    return f"It gives too much away: {reason}." if reason else ""
