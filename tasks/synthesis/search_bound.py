"""The fewest calls that a task's outcome can take, proved from what each action declares to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

from schemas.task import Change
from tasks.synthesis.atlas import Atlas


def least_calls(atlas: Atlas, changes: Sequence[Change], prompt: str) -> int:
    """Return a number of calls below which no episode gets full reward.

    Every action changes one row of its own table and one row for each reference behind which it has an effect, so that
    n changed rows of a table take at least n / (rows of it that one call can change) calls; tables that only actions of
    their own change add up. A changed row whose key the prompt does not state must have been seen in one call more,
    and without any change there is at least one call that reads. It holds as far as tools do what they declare; a tool
    that writes without an action leaves only what holds for any tool.
    """
    if not changes:
        return 1
    writers = [tool for tool in atlas.tools.values() if tool.writes]
    changed = Counter(change.table for change in changes)
    if any(tool.action not in atlas.actions for tool in writers):
        return 1
    reach = [_reach(atlas, tool.action) for tool in writers]
    most = {table: max((r[table] for r in reach), default=0) for table in changed}
    indirect = {table for r, tool in zip(reach, writers, strict=True) for table in r if table != tool.table}
    own = sum(number for table, number in changed.items() if table not in indirect)
    writes = max([own, *(ceil(number / max(1, most[table])) for table, number in changed.items())])
    return writes + any(_unstated(change, prompt) for change in changes if change.table not in indirect)


def _unstated(change: Change, prompt: str) -> bool:
    """Say whether the prompt leaves open which existing row changes."""
    return change.operation != "insert" and f'"{change.key}"' not in prompt


def _reach(atlas: Atlas, name: str) -> Counter[str]:
    """Return table -> how many of its rows one call of an action changes at most."""
    action = atlas.actions[name]
    reach = Counter({action.table: 1})
    for first in {effect.path.partition(".")[0] for effect in action.effects if "." in effect.path}:
        column = atlas.column(f"{action.table}.{first}")
        if column is not None and column.references:
            reach[column.references.partition(".")[0]] += 1
    return reach
