"""Synthesise verified tasks for every environment and give each its use (training, RL, diagnosis, arena ...)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.context import TaskRunContext

from flows.console import bar
from flows.costs import measured
from flows.models import calls_so_far
from flows.runtime import cache_key, compute, default_store, run_name, stored, workers
from flows.writing import judge_rubrics, open_gateway, sum_agreement, with_goals, writing_models
from schemas.base import content_hash
from schemas.environment import Environment, Rejection
from schemas.settings import DEFAULTS, Settings
from schemas.task import RUBRIC, AgentTask
from schemas.yields import SynthesisYield
from tasks.store import environment_rows, list_keys, load_environment, open_store, read_dataset, write_dataset


def fingerprint(task: AgentTask) -> str:
    """Return what makes two tasks the same for a policy: the environment and the oracle."""
    return content_hash([task.env_id, task.oracle.model_dump(mode="json")])


def tasks_of(store_uri: str, *uses: str) -> list[AgentTask]:
    """Return the stored tasks of the given uses, in key order."""
    store = open_store(store_uri)
    keys = [key for key in list_keys(store, "agent_tasks") if key.partition("/")[0] in uses]
    return [task_ for key in keys for task_ in read_dataset(store, "agent_tasks", key)]


def seen_tasks(store_uri: str, env_id: str, without: Iterable[str]) -> set[str]:
    """Return the fingerprints of an environment's stored tasks, those of the uses `without` aside."""
    store, left_out = open_store(store_uri), set(without)
    return {
        fingerprint(task_)
        for key in list_keys(store, "agent_tasks")
        if key.endswith(f"/{env_id}") and key.partition("/")[0] not in left_out
        for task_ in read_dataset(store, "agent_tasks", key)
    }


def make_tasks(
    store_uri: str,
    env_id: str,
    uses: Mapping[str, int],
    seed: int,
    options: Mapping[str, Any],
    models: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Synthesise tasks for one environment, give them their uses and write them; return counts.

    Args:
        uses: use -> number wanted. With fewer tasks than wanted, each use gets its share. "rubric" asks for free texts,
            which no other use holds.
        options: passed to the synthesiser: skills, kinds, phrasing, arm, guideline_id.
        models: see `flows.writing.writing_models`; {} for rules.
    """
    from tasks.synthesis import synthesize as synthesise_tasks
    from tasks.synthesis import write_rubrics

    store = open_store(store_uri)
    world = load_environment(store, env_id)
    uses = {**uses}
    notes = uses.pop(RUBRIC, 0)
    options = {"kinds": kinds_in_turn(0.0), "min_calls": 2, **options}
    gateway = open_gateway(store_uri, dict(models))
    if gateway is not None and gateway.has("task_writer"):
        options["kinds"] = with_goals(options["kinds"])
    marks = {name: options.pop(name) for name in ("arm", "guideline_id") if name in options}
    with measured() as cost:
        result = synthesise_tasks(
            world.database, world.snapshot, world.tools, seed=seed, n=sum(uses.values()), gateway=gateway, **options
        )  # fmt: skip
    rubrics = write_rubrics(world.database, world.snapshot, world.tools, seed=seed, n=notes) if notes else None
    seen = seen_tasks(store_uri, env_id, without=uses)
    fresh = [t for t in result.tasks if fingerprint(t) not in seen]
    known = len(result.tasks) - len(fresh)
    rejections = list(result.rejections)
    rejections += [
        Rejection(stage="synthesis", key=t.task_id, gate="seen_before", reason="an older task equals it", env_id=env_id)
        for t in result.tasks
        if fingerprint(t) in seen
    ]
    steps = list(result.notes)
    made = {}
    for use, chosen in share(fresh, uses).items():
        rows = [t.model_copy(update={"split": use, **marks}) for t in chosen]
        made[use] = write_dataset(store, "agent_tasks", f"{use}/{env_id}", rows)
    if rubrics is not None:
        rejections += rubrics.rejections
        made[RUBRIC] = write_dataset(store, "agent_tasks", f"{RUBRIC}/{env_id}", rubrics.tasks)
        steps += judge_rubrics(store_uri, env_id, rubrics.notes, gateway)
    write_dataset(store, "rejections", f"tasks-{'-'.join(uses)}-{env_id}", [*rejections, *steps])
    write_dataset(store, "survivors", f"{'-'.join(uses)}/{env_id}", result.survivors)
    row = SynthesisYield(
        env_id=env_id, uses="+".join(uses), seed=seed, wanted=sum(uses.values()), accepted=len(fresh),
        candidates=len(fresh) + len(rejections), rejected=Counter(r.gate for r in rejections),
        cpu_s=round(result.stats["cpu_seconds"], 3),
    )  # fmt: skip
    write_dataset(store, "yields", f"{'-'.join(uses)}/{env_id}", [row])
    return {"env_id": env_id, "made": made, "rejected": len(rejections), "known": known, "cost": cost.as_dict()}


def share(tasks: list[AgentTask], uses: Mapping[str, int]) -> dict[str, list[AgentTask]]:
    """Deal tasks to uses in proportion to what each wants, kind by kind, so that every use sees every kind.

    At each step the use that is furthest behind its share gets the next task; the order of uses breaks ties. Long
    tasks are not for RL: its rollouts are too few and too short to solve one by chance.
    """
    hands: dict[str, list[AgentTask]] = {use: [] for use in uses}
    for task_ in sorted(tasks, key=lambda t: (t.kind, t.template, t.task_id)):
        open_uses = [use for use in uses if len(hands[use]) < uses[use]]
        if task_.template.startswith("long_"):
            open_uses = [use for use in open_uses if use != "rl"]
        if not open_uses:
            continue
        use = min(open_uses, key=lambda name: len(hands[name]) / uses[name])
        hands[use].append(task_)
    return hands


def _task_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    from tasks.synthesis import STAGE_VERSION, templates_hash

    return cache_key(
        "tasks",
        STAGE_VERSION,
        templates_hash(),
        arguments["world"],
        dict(arguments["uses"]),
        arguments["seed"],
        dict(arguments["options"]),
        *([arguments["models"]["key"]] if arguments.get("models") else []),
    )


@task(
    name="synthesize-environment",
    task_run_name="tasks {env_id}",
    cache_key_fn=_task_key,
    retries=1,
    retry_delay_seconds=2,
)
def make_tasks_task(
    store_uri: str,
    env_id: str,
    world: str,
    uses: dict[str, int],
    seed: int,
    options: dict[str, Any],
    models: dict[str, Any],
) -> dict[str, Any]:
    """Run `make_tasks` on a worker. `world` is the hash of the environment's state and tools, for the cache key."""
    return compute(make_tasks, store_uri, env_id, uses, seed, options, models)


def world_hash(row: Environment) -> str:
    """Return the hash of all that tasks of an environment depend on."""
    return content_hash([row.snapshot_sha256, row.database_sha256, row.tools_sha256])


def kinds_in_turn(long_share: float) -> tuple[str, ...]:
    """Return the kinds of task in the order in which they are written, over and over: two chains, then a program,
    with long tasks at their share, spread evenly over twenty."""
    places = 20
    longs = round(long_share * places)
    found, others = [], 0
    for place in range(places):
        if (place + 1) * longs // places > place * longs // places:
            found.append("long")
        else:
            found.append(("graph", "graph", "program")[others % 3])
            others += 1
    return tuple(found)


def per_environment(total: int, count: int) -> int:
    """Return how many of `total` each of `count` environments gets, rounded up."""
    return -(-total // max(count, 1))


def wanted_uses(rows: list[Environment], settings: Settings) -> dict[str, dict[str, int]]:
    """Return, for each environment, the uses of its tasks and how many of each are wanted.

    Held-out environments give arena tasks only: the diagnosis never sees them, so that no regeneration can aim at
    them. Development environments give development tasks only.
    """
    train = [row for row in rows if row.split == "train"]
    held_out = [row for row in rows if row.split == "held_out"]
    development = [row for row in rows if row.split == "development"]
    arena = per_environment(settings.arena_tasks, len(train) + len(held_out))
    wanted: dict[str, dict[str, int]] = {}
    for row in train:
        wanted[row.env_id] = {
            "train": per_environment(settings.train_tasks, len(train)),
            "rl": per_environment(settings.rl_tasks, len(train)),
            "diagnosis-0": per_environment(settings.diagnosis_tasks, len(train)),
            "arena-0": arena,
            RUBRIC: settings.rubric_tasks,
        }
    for row in held_out:
        wanted[row.env_id] = {"arena-0": arena}
    for row in development:
        wanted[row.env_id] = {"development": per_environment(settings.development_tasks, len(development))}
    return wanted


def run_synthesis(
    store_uri: str,
    title: str,
    jobs: Mapping[str, Mapping[str, int]],
    seed: int,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    settings: Settings = DEFAULTS,
) -> list[dict[str, Any]]:
    """Synthesise for many environments at once, with a progress bar. An environment that breaks is left out of the
    result, and the rejection under its name says why. `settings` say which models play which roles."""
    models = writing_models(settings)
    rows = {row.env_id: row for row in environment_rows(open_store(store_uri), "accepted")}
    work = stored(make_tasks_task, store_uri)
    results: list[dict[str, Any]] = []
    with workers(), bar(title, len(jobs), calls_so_far(store_uri, settings)) as advance:
        futures = {
            env_id: work.submit(
                store_uri,
                env_id,
                world_hash(rows[env_id]),
                dict(uses),
                seed,
                dict((options or {}).get(env_id, {})),
                models,
            )  # fmt: skip
            for env_id, uses in jobs.items()
        }
        for env_id, future in futures.items():
            try:
                results.append(future.result())
            except Exception as error:  # recorded; the other environments go on
                reason = f"{type(error).__name__}: {error}".splitlines()[0][:500]
                row = Rejection(stage="synthesis", key=env_id, gate="failed", reason=reason, env_id=env_id)
                write_dataset(open_store(store_uri), "rejections", f"tasks-failed-{env_id}", [row])
            accepted = sum(sum(r["made"].values()) for r in results)
            advance(1, f"{accepted} accepted, {sum(r['rejected'] for r in results)} rejected")
    if models:
        sum_agreement(store_uri)
    return results


def show_funnel(store_uri: str) -> None:
    """Keep the funnel of what the store holds now as an artifact of the flow that runs."""
    from flows.report import funnel_of
    from tasks.report import funnel_rows

    found = funnel_of(store_uri)
    cost = "not measured" if found.cpu_ms is None else f"{found.cpu_ms:.0f} ms"
    description = (
        f"What came in, went on and ended, by stage and reason. {found.enough} of {found.accepted_environments} "
        f"environments give 10 tasks or more. CPU a candidate, replays and red team included: {cost}."
    )
    create_table_artifact(key="funnel", table=funnel_rows(found), description=description)


@flow(name="synthesize", flow_run_name=run_name("synthesize"))
def synthesize(store: str | None = None, settings: Settings = DEFAULTS) -> list[dict[str, Any]]:
    """Synthesise the tasks of all accepted environments. Returns counts by environment and use."""
    uri = open_store(store or default_store()).uri
    rows = environment_rows(open_store(uri), "accepted")
    jobs = wanted_uses(rows, settings)
    options = {env_id: {"kinds": kinds_in_turn(settings.long_share)} for env_id in jobs}
    results = run_synthesis(uri, "Synthesise tasks", jobs, settings.seed, options, settings)
    table = [{"env_id": r["env_id"], **r["made"], "rejected": r["rejected"]} for r in results]
    create_table_artifact(key="tasks", table=table, description="Accepted tasks by environment and use")
    show_funnel(uri)
    return results
