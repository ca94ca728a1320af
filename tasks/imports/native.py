"""Foreign tools as native ones: what they read and write, as actions where they can be described, with tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from schemas.actions import check_actions
from schemas.database import Action, Database
from schemas.tool import Tool, ToolTest
from tasks.imports.outcome import Build
from tasks.imports.probe import Probe, Prober, ToolProbes
from tasks.imports.reading import infer_reading
from tasks.imports.values import Data
from tasks.imports.world import ForeignTool, ForeignWorld
from tasks.imports.writing import infer_writing


def native_tools(
    build: Build, data: Data, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes], prober: Prober
) -> tuple[list[Tool], list[Action]]:
    """Return the kept tools as native ones and the actions by which the writing ones can be described."""
    found: list[Tool] = []
    actions: list[Action] = []
    for tool in tools:
        tried = probes[tool.name]
        common: dict[str, Any] = {
            "env_id": build.env_id, "name": tool.name, "parameters": tool.parameters, "source_code": tool.source,
            "description": tool.description if len(tool.description) >= 10 else f"{tool.description} ({tool.original})",
            "author": build.world.origin, "tests_passed": _tested(tried), "tests_total": _tested(tried),
            "evidence": ("probed_with_real_keys", "same_with_other_hash_seed_and_clock"),
        }  # fmt: skip
        if any(probe.changes for probe in tried.done):
            written = infer_writing(data, tried, prober)
            action = written.action
            if action is not None and _problems(build, data, [*actions, action]):
                action = None
            if action is not None:
                actions.append(action)
            described = action is not None
            found.append(
                Tool(
                    **common, kind=written.kind if described else "write", table=written.table,
                    action=action.name if action is not None else "",
                    inputs=written.inputs if described else (), outputs=written.outputs if described else (),
                    reads=written.tables, writes=written.tables,
                )
            )  # fmt: skip
        else:
            read = infer_reading(data, tried)
            found.append(
                Tool(**common, kind=read.kind, table=read.table, inputs=read.inputs, outputs=read.outputs,
                     reads=read.tables)
            )  # fmt: skip
    return found, actions


def _problems(build: Build, data: Data, actions: Sequence[Action]) -> list[str]:
    database = Database(
        env_id=build.env_id, theme_id=build.env_id, name="", description="", tables=data.tables,
        actions=tuple(actions), start_time=data.start_time, snapshot_sha256="",
    )  # fmt: skip
    return check_actions(database)


def _tested(probes: ToolProbes) -> int:
    return len(_test_probes(probes))


def _test_probes(probes: ToolProbes) -> list[Probe]:
    return [probe for probe in probes.done if len(str(probe.observation)) < 20_000][:5]


def tests_of(world: ForeignWorld, tools: Sequence[ForeignTool], probes: Mapping[str, ToolProbes]) -> Iterator[ToolTest]:
    """Yield what the probes saw as tests of the tools."""
    for tool in tools:
        for number, probe in enumerate(_test_probes(probes[tool.name]), 1):
            yield ToolTest(
                env_id=world.env_id, tool=tool.name, name=f"probe_{number}", kind="normal", author="tester",
                arguments=probe.arguments, observation=probe.observation, unchanged=not probe.changes, passed=True,
            )  # fmt: skip
