"""Regenerate: from guidelines to new data, targeted tasks and continued training, beside an undirected control arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact

from flows.arena import arena, ensure_tasks, present_round, set_round
from flows.build import regenerate_environment
from flows.console import bar
from flows.evaluation import evaluate_policies
from flows.oracles import ensure_oracles, load_oracles
from flows.policies import current_policy, set_current, work_folder
from flows.practice import PracticeJob, load_practice, run_practice
from flows.runtime import default_store, run_name, workers
from flows.synthesize import per_environment, run_synthesis, show_funnel
from flows.train import CONTINUED, NETWORK, development_scores, practice_jobs, train_arms
from schemas.episode import Diagnosis, TrainingRun
from schemas.settings import DEFAULTS, Settings
from tasks.store import StoreError, environment_rows, open_store, read_dataset
from tasks.training import TrainingConfig, prepare_sft

ARMS = ("directed", "control")


def new_worlds(store_uri: str, diagnoses: Sequence[Diagnosis], number: int, settings: Settings) -> dict[str, str]:
    """Complexify the worlds whose weakness is lack of connected data; return env_id -> the environment to train on.

    A world that cannot be grown, or whose grown version is rejected, keeps its old environment; the rejection says
    why.
    """
    rows = {row.env_id: row for row in environment_rows(open_store(store_uri), "accepted")}
    targets = {d.env_id: d.env_id for d in diagnoses}
    grow = [d for d in diagnoses if d.guideline.get("needs_data")]
    with workers(), bar("Grow weak environments", len(grow)) as advance:
        futures = [
            (d, regenerate_environment.submit(store_uri, rows[d.env_id], d.guideline, number + 1, settings))
            for d in grow
        ]
        for diagnosis, future in futures:
            result = future.result()
            if result["state"] == "accepted":
                targets[diagnosis.env_id] = result["env_id"]
            advance(1, f"{sum(k != v for k, v in targets.items())} grown")
    return targets


def _arm_work(
    store_uri: str, diagnoses: Sequence[Diagnosis], targets: dict[str, str], number: int, settings: Settings
) -> tuple[dict[str, dict[str, dict[str, int]]], dict[str, dict[str, dict[str, Any]]]]:
    """Return, for each arm, the task counts by environment and the options of their synthesis."""
    total = sum(int(d.guideline["n_tasks"]) for d in diagnoses)
    rows = environment_rows(open_store(store_uri), "accepted")
    train = [row for row in rows if row.split == "train" and not row.lineage]
    directed: dict[str, dict[str, int]] = {}
    options: dict[str, dict[str, Any]] = {}
    for d in diagnoses:
        env_id = targets[d.env_id]
        directed[env_id] = {f"directed-{number + 1}": int(d.guideline["n_tasks"])}
        options[env_id] = {
            "skills": tuple(d.guideline["skills"]) or None,
            "kinds": tuple(d.guideline["kinds"]) or ("graph", "program"),
            "arm": "directed",
            "guideline_id": d.guideline_id,
        }
    each = per_environment(total, len(train))
    counts = [min(each, total - index * each) for index in range(len(train))]
    control = {
        row.env_id: {f"control-{number + 1}": count} for row, count in zip(train, counts, strict=True) if count > 0
    }
    return (
        {"directed": directed, "control": control},
        {"directed": options, "control": {env_id: {"arm": "control"} for env_id in control}},
    )


def _practice(
    store_uri: str,
    arm: str,
    jobs: dict[str, dict[str, int]],
    options: dict[str, dict[str, Any]],
    number: int,
    settings: Settings,
) -> list[dict[str, Any]]:
    """Make the arm's practice episodes, as many in each arm, shared out like its tasks."""
    budget = settings.practice_tasks * settings.weak_environments // 2
    total = sum(sum(uses.values()) for uses in jobs.values())
    wanted = [
        PracticeJob(
            env_id,
            0,
            max(1, budget * sum(uses.values()) // total),
            f"practice-{arm}-{number + 1}",
            0.6,
            {name: value for name, value in options[env_id].items() if name in ("skills", "kinds") and value},
        )
        for env_id, uses in jobs.items()
    ]
    return run_practice(store_uri, f"Practise: {arm}", wanted, settings.seed + 1000 * (number + 1), settings.corpus)


def _prepare(store_uri: str, run_id: str, old: list[dict[str, Any]], new: list[dict[str, Any]], use: str) -> int:
    """Write an arm's examples: the new practice and the new verified tasks' oracles, beside as many old ones."""
    pairs, tools, families = load_practice(store_uri, new)
    oracle_pairs, oracle_tools = load_oracles(store_uri, use)
    pairs += oracle_pairs
    tools.update(oracle_tools)
    old_pairs, old_tools, old_families = load_practice(store_uri, old)
    step = max(1, len(old_pairs) // max(len(pairs), 1))
    pairs += old_pairs[::step]
    counts = prepare_sft(pairs, {**old_tools, **tools}, work_folder(store_uri, run_id), {**old_families, **families})
    return counts.written


def regenerate_round(store_uri: str, number: int, settings: Settings) -> dict[str, Any]:
    """Carry out the guidelines of a round and measure the result: before, directed and control on fresh tasks.

    Both arms start from the current policy and get as many new tasks, as many practice episodes and the same CPU
    seconds; only the directed arm's tasks follow the guidelines.

    Raises:
        StoreError: if the round has no diagnosis.
    """
    store = open_store(store_uri)
    diagnoses: list[Diagnosis] = (
        read_dataset(store, "diagnoses", f"round-{number}")
        if store.exists(f"datasets/diagnoses/round-{number}.parquet")
        else []
    )
    if not diagnoses:
        raise StoreError(f"round {number} in {store_uri} has no diagnosis to act on: run `agentworld arena` first")
    before = current_policy(store_uri)
    targets = new_worlds(store_uri, diagnoses, number, settings)
    jobs, options = _arm_work(store_uri, diagnoses, targets, number, settings)
    old = run_practice(store_uri, "Practice so far", practice_jobs(store_uri, settings), settings.seed, settings.corpus)
    arms: list[tuple[TrainingConfig, TrainingRun | None]] = []
    made: dict[str, int] = {}
    for arm in ARMS:
        seed = settings.seed + 10_000 * (number + 1)
        results = run_synthesis(store_uri, f"New tasks: {arm}", jobs[arm], seed, options[arm], settings)
        made[arm] = sum(sum(r["made"].values()) for r in results)
        new = _practice(store_uri, arm, jobs[arm], options[arm], number, settings)
        run_id = f"{arm}-{number + 1}-{before.checkpoint_sha256[:8]}"
        ensure_oracles(store_uri, f"Oracles: {arm}", f"{arm}-{number + 1}")
        _prepare(store_uri, run_id, old, new, f"{arm}-{number + 1}")
        arms.append(
            (
                TrainingConfig(
                    method="sft",
                    run_id=run_id,
                    policy_id=run_id,
                    arm=arm,
                    seed=settings.seed + number + 1,
                    steps=100_000,
                    max_cpu_seconds=settings.round_seconds,
                    **NETWORK,
                    **CONTINUED,
                ),
                before,
            )
        )
    runs = dict(zip(ARMS, train_arms(store_uri, "Train: directed and control", arms), strict=True))
    ensure_tasks(store_uri, number + 1, settings, diagnosis=False)
    results = evaluate_policies(
        store_uri,
        f"Arena of round {number + 1}",
        f"arena-{number + 1}",
        [("before", before), *runs.items()],
        round_number=number + 1,
        purpose="arena",
        settings=settings,
    )
    scores = development_scores(store_uri, "Development", [*runs.values()], settings, number + 1)
    kept = max(runs.values(), key=lambda run: scores[run.policy_id])
    set_current(store_uri, kept)
    set_round(store, number + 1)
    return {
        "round": number + 1,
        "success": {arm: sum(r.success for r in rs) / max(len(rs), 1) for arm, rs in results.items()},
        "attempts": {arm: len(rs) for arm, rs in results.items()},
        "new_tasks": made,
        "grown": sorted(new for old_id, new in targets.items() if new != old_id),
        "policy_id": kept.policy_id,
    }


def _regenerate(
    store: str | None = None, settings: Settings = DEFAULTS, round_number: int | None = None
) -> dict[str, Any]:
    """Act on the guidelines of a round (the present one by default) and begin the next."""
    uri = open_store(store or default_store()).uri
    number = present_round(open_store(uri)) if round_number is None else round_number
    outcome = regenerate_round(uri, number, settings)
    table = [
        {"arm": arm, "success": f"{rate:.1%}", "tasks": outcome["attempts"][arm]}
        for arm, rate in outcome["success"].items()
    ]
    create_table_artifact(key="regeneration", table=table, description=f"Round {outcome['round']} on fresh tasks")
    show_funnel(uri)
    return outcome


@flow(name="evolve", flow_run_name=run_name("evolve"))
def evolve(store: str | None = None, settings: Settings = DEFAULTS, rounds: int = 1) -> list[dict[str, Any]]:
    """Go round: arena and diagnosis, regeneration, arena again. Returns each round's success by arm."""
    outcomes = []
    for _ in range(rounds):
        found = arena(store, settings)
        if not found["weaknesses"]:
            break
        outcomes.append(regenerate(store, settings, found["round"]))
    return outcomes


@flow(name="regenerate", flow_run_name=run_name("regenerate"))
def regenerate(
    store: str | None = None, settings: Settings = DEFAULTS, round_number: int | None = None
) -> dict[str, Any]:
    """Act on the guidelines of a round (the present one by default) and begin the next."""
    with workers():
        return _regenerate(store, settings, round_number)
