"""What each set of tasks gives away to agents without skill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean

from schemas.task import AgentTask, SetScore

AGENTS = ("null", "guess", "random", "lexical", "search")
"""Agents that have no skill or little: `lexical` is greedy, `search` tries many calls and is told when it passes."""
RELEASE = "release"


def set_scores(tasks: Iterable[AgentTask], whole: str = "") -> list[SetScore]:
    """Return what the agents score on each set of tasks, from the pass rates that the tasks hold.

    A set is all tasks of one use (train, rl, development, diagnosis, arena ...), whatever the round. Tasks whose pass
    rates were not measured (practice) belong to none. Free texts are a set of their own and not in the whole.

    Args:
        whole: the name of one more set that holds all tasks; '' for none.
    """
    sets: dict[str, list[AgentTask]] = defaultdict(list)
    for task in tasks:
        if task.pass_rates:
            for name in (task.split.partition("-")[0], whole if task.kind != "rubric" else ""):
                if name:
                    sets[name].append(task)
    return [
        SetScore(set_name=name, policy_id=agent, tasks=len(rates), score=round(fmean(rates), 6))
        for name, chosen in sets.items()
        for agent in AGENTS
        if (rates := [task.pass_rates[agent] for task in chosen if agent in task.pass_rates])
    ]
