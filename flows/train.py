"""Train the policy: SFT on oracle trajectories, then GRPO from verifier rewards beside an SFT arm of equal compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.context import TaskRunContext

from flows.console import bar
from flows.evaluation import evaluate_policies
from flows.oracles import ensure_oracles, load_oracles
from flows.policies import checkpoint_of, keep_policy, set_current, work_folder
from flows.practice import PracticeJob, load_practice, run_practice
from flows.runtime import cache_key, default_store, run_name, stored, workers
from flows.synthesize import tasks_of
from flows.worlds import load_or_reject
from schemas.base import content_hash
from schemas.episode import TrainingRun
from schemas.settings import DEFAULTS, Settings
from tasks.store import environment_rows, open_store
from tasks.training import Progress, TrainingConfig, launch_training, prepare_sft
from tasks.training.examples import save_tools
from tasks.training.images import save_images, save_tasks

NETWORK = {"width": 72, "layers": 3}
"""A policy small enough for some hundred steps in the minutes that a run has; a larger one learns less in them."""

CONTINUED = {"learning_rate": 1e-3, "warmup": 5}
"""Settings of a training that goes on from a policy: at the rate of a first training it forgets."""

REINFORCED = {"learning_rate": 3e-4, "warmup": 3}
"""Settings of RL: at three times the rate the policy collapsed within ten rounds."""

_watchers: dict[str, Callable[[Progress], None]] = {}
"""Who wants to see a training's progress, by run id: a function is no parameter of a Prefect task."""


def _train_key(context: TaskRunContext, arguments: dict[str, Any]) -> str:
    parent: TrainingRun | None = arguments["parent"]
    config: TrainingConfig = arguments["config"]
    return cache_key("train", "1", config, arguments["inputs"], parent and parent.checkpoint_sha256)


@task(
    name="train-policy",
    task_run_name="{config.method} {config.run_id}",
    cache_key_fn=_train_key,
    retries=2,
    retry_delay_seconds=5,
)
def train_policy(store_uri: str, config: TrainingConfig, parent: TrainingRun | None, inputs: str) -> dict[str, Any]:
    """Run one training under `accelerate launch` in its prepared folder and store its policy; return its run.

    A retry, or a rerun after a kill, resumes from the folder's last checkpoint. `inputs` is the hash of what it
    learns from, for the cache key.
    """
    outcome = launch_training(
        config,
        work_folder(store_uri, config.run_id),
        _watchers.get(config.run_id),
        parent=None if parent is None else checkpoint_of(store_uri, parent),
        parent_id="" if parent is None else parent.policy_id,
    )
    return keep_policy(store_uri, outcome.run, outcome.checkpoint.read_bytes()).model_dump(mode="json")


def train_arms(
    store_uri: str, title: str, arms: Sequence[tuple[TrainingConfig, TrainingRun | None]]
) -> list[TrainingRun]:
    """Train several arms side by side and show how far the slowest is."""
    totals = [max(config.max_cpu_seconds, 1.0) for config, _ in arms]
    done = [0.0] * len(arms)
    with bar(title, round(min(totals))) as advance:

        def watch(index: int) -> Callable[[Progress], None]:
            def seen(progress: Progress) -> None:
                before = min(done)
                done[index] = min(progress.cpu_seconds, totals[index])
                shown = {"loss": progress.loss, "reward": progress.reward, "entropy": progress.entropy}
                note = "  ".join(f"{name} {value:.3f}" for name, value in shown.items() if value is not None)
                advance(min(done) - before, f"step {progress.step}  {note}")

            return seen

        work = stored(train_policy, store_uri)
        futures = []
        for index, (config, parent) in enumerate(arms):
            _watchers[config.run_id] = watch(index)
            futures.append(work.submit(store_uri, config, parent, _inputs_hash(store_uri, config.run_id)))
        runs = [TrainingRun.model_validate(future.result()) for future in futures]
        advance(totals[0] - min(done))
        return runs


def _inputs_hash(store_uri: str, run_id: str) -> str:
    folder = work_folder(store_uri, run_id)
    files = [folder / name for name in ("examples.jsonl", "tools.json", "tasks.jsonl")]
    files += sorted((folder / "images").glob("*"))
    return content_hash([[path.name, content_hash(path.read_bytes())] for path in files if path.exists()])


def prepare_examples(store_uri: str, run_id: str, made: Sequence[dict[str, Any]]) -> str:
    """Write the SFT examples of practice jobs into a training's folder; return the hash of what they are."""
    pairs, tools, families = load_practice(store_uri, made)
    oracle_pairs, oracle_tools = load_oracles(store_uri, "train")
    pairs += oracle_pairs
    tools.update(oracle_tools)
    counts = prepare_sft(pairs, tools, work_folder(store_uri, run_id), families)
    return content_hash([counts.written, [job["key"] for job in made]])


def prepare_rl(store_uri: str, run_id: str) -> int:
    """Write the shorter half of the RL tasks, without their oracles, and their environments' images; return how many.

    A group of attempts that all fail teaches nothing, and a young policy fails long tasks only: so RL begins with the
    easier share.
    """
    store = open_store(store_uri)
    folder = work_folder(store_uri, run_id)
    rl_tasks = sorted(tasks_of(store_uri, "rl"), key=lambda t: (t.oracle_calls, t.task_id))
    rl_tasks = rl_tasks[: -(-len(rl_tasks) // 2)]
    loaded = [load_or_reject(store, env_id, "training") for env_id in sorted({t.env_id for t in rl_tasks})]
    worlds = [world for world in loaded if world is not None]
    rl_tasks = [t for t in rl_tasks if t.env_id in {world.environment.env_id for world in worlds}]
    folder.mkdir(parents=True, exist_ok=True)
    from tasks.environment import EnvironmentImage

    save_tools({w.environment.env_id: w.tools for w in worlds}, folder)
    save_images([EnvironmentImage.of(w.database, w.tools, w.snapshot) for w in worlds], folder)
    return save_tasks(rl_tasks, folder)


def practice_jobs(store_uri: str, settings: Settings) -> list[PracticeJob]:
    """Return the practice jobs of a first training: each training environment and, where it was mined, its variants."""
    rows = [row for row in environment_rows(open_store(store_uri), "accepted") if row.split == "train"]
    return [
        PracticeJob(row.env_id, variant, settings.practice_tasks)
        for variant in range(settings.variants + 1)
        for row in rows
        if not row.lineage and (row.origin == "mined" or not variant)
    ]


def development_scores(
    store_uri: str, title: str, runs: Sequence[TrainingRun], settings: Settings, round_number: int = 0
) -> dict[str, float]:
    """Return each policy's success on the development tasks, on which arms are chosen."""
    results = evaluate_policies(
        store_uri,
        title,
        "development",
        [(run.arm or run.method, run) for run in runs],
        round_number=round_number,
        purpose="development",
        settings=settings,
    )
    return {
        run.policy_id: sum(r.success for r in results[run.arm or run.method])
        / max(len(results[run.arm or run.method]), 1)
        for run in runs
    }


def _train(store: str | None = None, settings: Settings = DEFAULTS) -> dict[str, Any]:
    """Train from the start and make the arm that does best on the development tasks the current policy."""
    uri = open_store(store or default_store()).uri
    tag = content_hash([settings.seed, settings.variants, settings.practice_tasks, settings.sft_seconds])[:8]
    made = run_practice(uri, "Practise", practice_jobs(uri, settings), settings.seed, settings.corpus)
    ensure_oracles(uri, "Oracles of training tasks", "train")
    sft_id, grpo_id, more_id = (f"{name}-{tag}" for name in ("sft", "grpo", "sft-control"))
    for run_id in (sft_id, more_id):
        prepare_examples(uri, run_id, made)
    rl_tasks = prepare_rl(uri, grpo_id)

    def config(method: str, run_id: str, arm: str, seconds: float) -> TrainingConfig:
        return TrainingConfig(
            method=method,
            run_id=run_id,
            policy_id=run_id,
            arm=arm,
            seed=settings.seed,
            steps=100_000,
            max_cpu_seconds=seconds,
            processes=1 if arm else settings.sft_processes,  # arms run side by side
            **NETWORK,
            **(REINFORCED if method == "grpo" else CONTINUED if arm else {}),
            tasks_a_step=6,
            rollouts_a_task=6,
        )

    (sft,) = train_arms(uri, "Train: SFT", [(config("sft", sft_id, "", settings.sft_seconds), None)])
    runs = [sft]
    if rl_tasks:
        runs += train_arms(
            uri,
            "Train: GRPO and SFT control",
            [
                (config("grpo", grpo_id, "rl", settings.rl_seconds), sft),
                (config("sft", more_id, "sft_control", settings.rl_seconds), sft),
            ],
        )
    scores = development_scores(uri, "Development", runs, settings)
    best = max(runs, key=lambda run: scores[run.policy_id])
    set_current(uri, best)
    table = [{"policy": r.policy_id, "steps": r.steps, "development success": scores[r.policy_id]} for r in runs]
    create_table_artifact(key="training", table=table, description="Training arms and their development success")
    return {"policy_id": best.policy_id, "development": scores, "episodes": sum(job["episodes"] for job in made)}


@flow(name="train", flow_run_name=run_name("train"))
def train(store: str | None = None, settings: Settings = DEFAULTS) -> dict[str, Any]:
    """Train from the start and make the arm that does best on the development tasks the current policy."""
    with workers():
        return _train(store, settings)
