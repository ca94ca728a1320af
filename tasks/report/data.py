"""Everything that the report shows, as the records that the store holds."""

from __future__ import annotations

from pydantic import Field

from schemas.base import Record
from schemas.environment import Environment, Rejection
from schemas.episode import ArenaResult, Diagnosis, QualityResult, TrainingRun, Trajectory
from schemas.judging import JudgeAgreement
from schemas.models import ModelCall
from schemas.statistics import Comparison, SuccessRate
from schemas.task import AgentTask
from schemas.theme import Source, Theme
from schemas.tool import Tool
from schemas.yields import SynthesisYield


class StageCost(Record):
    """What one stage cost; processes that it started are included in `cpu_s` and `peak_rss_mb`."""

    stage: str
    wall_s: float
    cpu_s: float
    peak_rss_mb: float = Field(description="largest resident set of one process or process tree, MiB")
    items: int = Field(description="themes, environments, tasks, ... that came out of it")


class ReportData(Record):
    """The input of `render_report`. Every list may be empty: its part of the page then says what to do.

    `rates` and `comparisons` are the arena's statistics; `results` and `trajectories` serve the error types and the
    examples (those of the diagnoses' episodes and of a few tasks suffice). `links` maps a label, or an env_id, to a
    relative or absolute address. `missing` holds one sentence for each part that could not run. `quick` says that the
    run was so small that its success rates and comparisons mean nothing; `redrawn_at` is when the page was drawn again
    from what the store held then, "" for the page that the run itself wrote.
    """

    run_id: str
    started_at: str = Field(description="ISO 8601, UTC")
    machine: str = Field(description="cores, memory, system, Python, sandbox strength")
    seed: int = 0
    quick: bool = False
    redrawn_at: str = Field(default="", description="ISO 8601, UTC")
    version: str = ""
    themes: tuple[Theme, ...] = ()
    environments: tuple[Environment, ...] = ()
    tools: tuple[Tool, ...] = ()
    tasks: tuple[AgentTask, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    yields: tuple[SynthesisYield, ...] = ()
    training_runs: tuple[TrainingRun, ...] = ()
    results: tuple[ArenaResult, ...] = ()
    rates: tuple[SuccessRate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    trajectories: tuple[Trajectory, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    sources: tuple[Source, ...] = ()
    quality: tuple[QualityResult, ...] = ()
    costs: tuple[StageCost, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    judges: tuple[JudgeAgreement, ...] = ()
    links: dict[str, str] = {}
    missing: tuple[str, ...] = ()
    next_commands: tuple[str, ...] = ()
