"""Attack accepted tasks once more, with other chances than when they were made, and count what holds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schemas.database import Database
from schemas.task import AgentTask, Survivor
from schemas.tool import Tool
from tasks.environment import EnvironmentImage, verify
from tasks.policies.scripted import NullPolicy
from tasks.rollout import Answer, ToolSignature, first_view
from tasks.synthesis.atlas import Atlas
from tasks.synthesis.redteam import red_team, survivor_of
from tasks.synthesis.redteam_guess import AnswerPrior
from tasks.synthesis.replay import Bench


@dataclass
class ProbeReport:
    """What a second attack found over some accepted tasks.

    Attributes:
        tasks: how many were attacked.
        oracle: in how many of them the oracle gets full reward in an episode of a seed that it was not made with.
        null, guess: in how many doing nothing, or only the most probable answer, gets full reward.
        mutants, killed: wrong episodes that are not equivalent to the oracle's, and those that were refused.
        kinds: kind of wrong episode -> [mutants, killed].
        survivors: those that got full reward, with the task that gave it.
    """

    tasks: int = 0
    oracle: int = 0
    null: int = 0
    guess: int = 0
    mutants: int = 0
    killed: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict)
    survivors: list[Survivor] = field(default_factory=list)


def probe(
    database: Database, snapshot: bytes, tools: Sequence[Tool], tasks: Iterable[AgentTask], *, seed: int
) -> ProbeReport:
    """Attack the verified tasks of one environment; the same tasks and seed give the same report.

    The wrong episodes are of the kinds that the red team knows, but other neighbours, parts and extra writes are drawn
    than when the tasks were accepted; guesses come from the answers of all the other tasks. Free texts are left out.

    Raises:
        ValueError: if the snapshot cannot be read.
        SandboxError: if the environment cannot be loaded.
    """
    atlas = Atlas(database, snapshot, list(tools))
    signatures = [ToolSignature.of(tool) for tool in tools]
    chosen = [task for task in tasks if task.kind != "rubric"]
    report = ProbeReport()
    with Bench(EnvironmentImage.of(database, list(tools), snapshot)) as bench:
        for task in chosen:
            _attack(bench, atlas, signatures, task, seed, report)
    for task in chosen:
        prior = AnswerPrior(atlas)
        for other in chosen:
            if other is not task:
                prior.add(other.verifier.answer, other.expected_answer)
        guessed = prior.guess(task.verifier.answer, task.prompt)
        report.guess += verify(task.verifier, guessed, ()).success
    return report


def _attack(
    bench: Bench, atlas: Atlas, signatures: Sequence[ToolSignature], task: AgentTask, seed: int, report: ProbeReport
) -> None:
    run = bench.execute(task.oracle, 0, task.user)
    other = bench.execute(task.oracle, seed, task.user)
    report.tasks += 1
    report.oracle += verify(task.verifier, other.answer, other.changes).success
    move = NullPolicy().moves([first_view(task, signatures)], [seed])[0]
    report.null += isinstance(move, Answer) and verify(task.verifier, move.value, ()).success
    rng = random.Random(f"probe/{seed}/{task.task_id}")
    found = red_team(bench, atlas, task.verifier, task.oracle, run, task.prompt, rng)
    report.mutants += found.mutants
    report.killed += found.killed
    lost = Counter(found.survivors)
    for kind, number in found.kinds.items():
        counts = report.kinds.setdefault(kind, [0, 0])
        counts[0] += number
        counts[1] += number - lost[kind]
    report.survivors += [
        survivor_of(task, escape, "kept", f"found by a later attack with seed {seed}") for escape in found.escapes
    ]
