"""The registry of stored datasets: name, record type, schema version and what a row is known by."""

from __future__ import annotations

from dataclasses import dataclass

from schemas import environment, episode, imports, judging, models, research, task, theme, tool, yields
from schemas.base import Record


@dataclass(frozen=True)
class Dataset:
    """A stored dataset. Each of its objects holds the rows of one key; `identity` are the columns that name a row."""

    name: str
    model: type[Record]
    version: int
    keyed_by: str
    identity: tuple[str, ...]
    description: str


_ALL = (
    Dataset("themes", theme.Theme, 1, "collection", ("theme_id",), "Real topics and their source documents."),
    Dataset("sources", theme.Source, 1, "collection or environment", ("source_id",), "Where data came from."),
    Dataset("provenance", theme.Provenance, 1, "environment", ("env_id", "table_name", "row_key"),
            "The source of every table row and document."),
    Dataset("environments", environment.Environment, 1, "environment", ("env_id",),
            "Builds and how they ended; the commit point of an environment."),
    Dataset("tools", tool.Tool, 1, "environment", ("env_id", "name"), "Accepted tools with their source code."),
    Dataset("tool_tests", tool.ToolTest, 1, "environment", ("env_id", "tool", "author", "name"),
            "Unit tests of tools and their results."),
    Dataset("agent_tasks", task.AgentTask, 1, "environment and use", ("task_id",),
            "Tasks with prompt, oracle and verifier."),
    Dataset("survivors", task.Survivor, 1, "environment and use", ("survivor_id",),
            "Wrong or cheap episodes that got full reward, and what came of it."),
    Dataset("set_scores", task.SetScore, 1, "audit", ("set_name", "policy_id"),
            "What agents without skill score on each set of tasks."),
    Dataset("judge_verdicts", judging.JudgeVerdict, 1, "environment", ("verdict_id",),
            "A judge's verdicts on items of texts, beside the rules'."),
    Dataset("judge_agreement", judging.JudgeAgreement, 1, "judged set", ("set_name", "judge", "texts", "level"),
            "How far a judge agrees with the rules."),
    Dataset("rejections", environment.Rejection, 1, "stage and item", ("stage", "env_id", "key", "gate", "reason"),
            "What was not kept, and why."),
    Dataset("yields", yields.SynthesisYield, 1, "environment and uses", ("env_id", "uses"),
            "What became of the candidates for tasks, and what they cost."),
    Dataset("trajectories", episode.Trajectory, 1, "evaluation", ("episode_id",), "Records of attempts."),
    Dataset("training_runs", episode.TrainingRun, 1, "run", ("run_id",), "Training stages, settings and curves."),
    Dataset("arena_results", episode.ArenaResult, 1, "round and arm",
            ("round", "arm", "purpose", "policy_id", "task_id", "attempt"), "Attempts in the arena."),
    Dataset("diagnoses", episode.Diagnosis, 1, "round", ("guideline_id",), "Weak environments and guidelines."),
    Dataset("model_calls", models.ModelCall, 2, "environment, call", ("call_id",), "What calls of chat models cost."),
    Dataset("research", research.Research, 1, "environment", ("env_id",),
            "What researchers did for each environment, call by call."),
    Dataset("import_findings", imports.ImportFinding, 1, "environment", ("env_id", "subject", "fault"),
            "Faults found in worlds that others made."),
    Dataset("imported_questions", imports.ImportedQuestion, 1, "environment", ("env_id", "number"),
            "Others' questions with their chains replayed and answers worked out again."),
    Dataset("quality_results", episode.QualityResult, 1, "audit", ("dataset", "expectation", "column"),
            "Outcomes of the data contracts' expectations."),
)  # fmt: skip

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
