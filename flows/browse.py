"""Look into a store: list what it holds, and show one thing whole with where it came from."""

from __future__ import annotations

import json
from typing import Any

from flows.errors import Refused
from schemas.scores import set_scores
from tasks.store import Store, environment_rows, list_keys, load_environment, open_store, read_dataset, read_release

KINDS = ("environments", "themes", "tasks", "scores", "survivors", "rejections", "releases", "runs")


def listing(store: str, what: str) -> list[dict[str, Any]]:
    """Return one short row for each thing of a kind.

    Raises:
        Refused: for a kind that does not exist.
    """
    objects = open_store(store)
    if what == "environments":
        return [
            {"env_id": r.env_id, "state": r.state, "split": r.split, "category": r.category_l1, "tables": r.n_tables,
             "rows": r.n_rows, "tools": r.n_tools, "authors": " ".join(r.authors), "reason": r.reason}
            for r in environment_rows(objects)
        ]  # fmt: skip
    if what == "themes":
        return [
            {"theme_id": t.theme_id, "kind": t.kind, "category": t.category_l1, "source": t.source_uri}
            for t in read_dataset(objects, "themes")
        ]
    if what == "tasks":
        keys = [key for key in list_keys(objects, "agent_tasks") if not key.startswith("practice")]
        return [
            {
                "task_id": t.task_id,
                "use": t.split,
                "kind": t.kind,
                "class": " ".join(t.classes),
                "calls": t.oracle_calls,
                "shortest": t.shortest_found,
                "difficulty": t.difficulty,
                "prompt": " ".join(t.prompt.split())[:90],
            }
            for key in keys
            for t in read_dataset(objects, "agent_tasks", key)
        ]
    if what == "scores":
        tasks = (t for key in list_keys(objects, "agent_tasks") for t in read_dataset(objects, "agent_tasks", key))
        return [score.model_dump() for score in set_scores(tasks)]
    if what == "survivors":
        return [
            {"task_id": s.task_id, "outcome": s.outcome, "kind": s.kind, "calls": len(s.calls), "reason": s.reason}
            for s in read_dataset(objects, "survivors")
        ]
    if what == "rejections":
        return [
            {"stage": r.stage, "gate": r.gate, "key": r.key, "env_id": r.env_id, "reason": " ".join(r.reason.split())}
            for r in read_dataset(objects, "rejections")
        ]
    if what == "releases":
        ids = [key[len("releases/") : -len(".json")] for key in objects.list("releases/")]
        return [
            {"release_id": i, **{n: d["rows"] for n, d in read_release(objects, i)["datasets"].items()}} for i in ids
        ]
    if what == "runs":
        records = [json.loads(objects.get(key)) for key in objects.list("runs/")]
        return [{name: r.get(name) for name in ("run_id", "started_at", "wall_s", "ok", "report")} for r in records]
    raise Refused(f"cannot list {what!r}: the kinds are {', '.join(KINDS)}")


def lines(rows: list[dict[str, Any]], for_people: bool) -> list[str]:
    """Return rows of `listing` as lines; for people under a header and in columns, else with two spaces between."""
    table = [[str(value) for value in row.values()] for row in rows]
    if not for_people or not rows:
        return ["  ".join(cells) for cells in table]
    table.insert(0, list(rows[0]))
    widths = [max(len(cells[i]) for cells in table) for i in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in table]


def nothing(store: str, what: str) -> str:
    """Return what to tell a person for whom `listing` has no rows: the command that makes such things."""
    makers = {"releases": "audit", "survivors": "redteam"}
    if what == "tasks" and environment_rows(open_store(store), "accepted"):
        return (
            f"no tasks here yet: an environment's tasks are stored when all of them are written; if no command is "
            f"writing them now, run `agentworld synthesize --store {store}`"
        )
    reason = " (or its attacks got nothing through)" if what == "survivors" else ""
    return f"no {what} here yet: run `agentworld {makers.get(what, 'run')} --store {store}`{reason}"


def _tasks_like(objects: Store, identifier: str) -> dict[str, Any]:
    return {
        t.task_id: t
        for key in list_keys(objects, "agent_tasks")
        if not key.startswith("practice")
        for t in read_dataset(objects, "agent_tasks", key)
        if t.task_id.startswith(identifier)
    }


def find_task(store: str, identifier: str) -> Any:
    """Return the one released task whose id starts with the identifier.

    Raises:
        Refused: if there is none, or more than one.
    """
    objects = open_store(store)
    found = _tasks_like(objects, identifier)
    if len(found) != 1:
        some = ", ".join(sorted(found)[:5])
        reason = f"{len(found)} tasks begin with it: {some} ..." if found else "`agentworld ls tasks` lists them"
        raise Refused(f"no single task {identifier!r} in {objects.uri}: {reason}")
    return next(iter(found.values()))


def find(store: str, identifier: str) -> dict[str, Any]:
    """Return an environment, theme, task or episode by id (or the start of one) as a JSON object.

    Raises:
        Refused: if nothing, or more than one thing, has it.
    """
    objects = open_store(store)
    environments = [r for r in environment_rows(objects) if r.env_id.startswith(identifier)]
    exact = [r for r in environments if r.env_id == identifier]
    if len(exact or environments) == 1:
        return _environment(store, (exact or environments)[0])
    themes = [t for t in read_dataset(objects, "themes") if t.theme_id.startswith(identifier)]
    if len(themes) == 1:
        return {"kind": "theme", **themes[0].model_dump(mode="json")}
    if identifier.startswith("ep-"):
        for key in list_keys(objects, "trajectories"):
            for trajectory in read_dataset(objects, "trajectories", key):
                if trajectory.episode_id == identifier:
                    return {"kind": "episode", **trajectory.model_dump(mode="json")}
    tasks = _tasks_like(objects, identifier)
    if len(tasks) == 1:
        return {"kind": "task", **next(iter(tasks.values())).model_dump(mode="json")}
    many = [r.env_id for r in environments] or [t.theme_id for t in themes] or sorted(tasks)
    if many:
        raise Refused(f"{len(many)} ids in {objects.uri} begin with {identifier!r}: {', '.join(many[:5])} ...")
    raise Refused(
        f"no environment, theme or task in {objects.uri} has an id that begins with {identifier!r}, and no episode has "
        "that id: `agentworld ls`, `ls themes` and `ls tasks` list them"
    )


def _environment(store: str, row: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": "environment", **row.model_dump(mode="json")}
    if row.state != "accepted":
        return shown
    objects = open_store(store)
    world = load_environment(objects, row.env_id)
    licences: dict[str, str] = {s.source_id: f"{s.uri} ({s.licence})" for s in read_dataset(objects, "sources")}
    used = sorted({p.source_id for p in read_dataset(objects, "provenance", row.env_id)})
    shown["tables"] = [
        {"name": t.name, "origin": t.origin, "rows": t.rows, "columns": [c.name for c in t.columns]}
        for t in world.database.tables
    ]
    shown["actions"] = [{"name": a.name, "description": a.description} for a in world.database.actions]
    shown["documents"] = [d.name for d in world.database.documents]
    shown["tools"] = [
        {"name": t.name, "author": t.author, "description": t.description, "writes": list(t.writes),
         "mutation_score": t.mutation_score, **({"cites": list(t.cites)} if t.cites else {})}
        for t in world.tools
    ]  # fmt: skip
    shown["sources"] = [licences.get(source_id, source_id) for source_id in used]
    for research in (
        read_dataset(objects, "research", row.env_id) if row.env_id in list_keys(objects, "research") else ()
    ):
        shown["research"] = {
            "researcher": research.researcher,
            "rounds": [round_.model_dump() for round_ in research.rounds],
            "refused": research.refused,
            "log": [_step(entry) for entry in research.log],
        }
    return shown


def _step(entry: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={' '.join(str(value).split())[:80]}" for name, value in entry["arguments"].items())
    return f"{entry['tool']}({given}): {' '.join(entry['outcome'].split())[:160]}"


def describe(found: dict[str, Any]) -> str:
    """Return an item of `find` as YAML for people."""
    import yaml

    return yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=110)
