"""What a run of the loop is asked to do. Every figure that decides what is made lies here and nowhere else."""

from __future__ import annotations

from pydantic import Field

from schemas.base import Record
from schemas.research import ResearchSettings


class Settings(Record):
    """The settings of a run. The same settings, sources and code give the same environments and tasks."""

    seed: int = 7
    specs: tuple[str, ...] = Field(default=(), description="files or folders of source documents beside the embedded")
    registries: tuple[str, ...] = Field(default=(), description="addresses of MCP registries' listings")
    mcp_urls: tuple[str, ...] = Field(default=(), description="URLs of running MCP servers")
    mcp_commands: tuple[str, ...] = Field(default=(), description="commands that start MCP servers over stdio")
    corpus: tuple[str, ...] = Field(default=(), description="files or folders of data beside the embedded packages")
    embedded: bool = Field(default=True, description="also use the embedded themes")
    themes: tuple[str, ...] = Field(default=(), description="only themes whose id starts with one of these; () is all")
    environments: int = Field(default=12, ge=0, description="at most so many themes, spread over categories; 0: all")
    complexify_rounds: int = Field(default=1, ge=0, description="rounds of complexification of a new environment")
    train_tasks: int = Field(default=120, ge=1, description="accepted tasks of training environments, traces released")
    rl_tasks: int = Field(default=80, ge=1, description="tasks for RL: their traces are withheld from SFT")
    development_tasks: int = Field(default=30, ge=1, description="tasks that settings and checkpoints are chosen on")
    diagnosis_tasks: int = Field(default=90, ge=1, description="tasks that the diagnosis looks at")
    arena_tasks: int = Field(default=312, ge=1, description="tasks of each arena round, over both splits")
    long_share: float = Field(
        default=0.15, ge=0, le=1, description="share of long candidates (7 calls or more) among those written"
    )
    rubric_tasks: int = Field(default=2, ge=0, description="free-text tasks of each training environment, kept apart")
    variants: int = Field(default=1, ge=0, description="seeded variants of each training environment, for practice")
    practice_tasks: int = Field(default=170, ge=1, description="executed oracle episodes an environment or variant")
    sft_processes: int = Field(default=2, ge=1, description="processes that share each step of the first SFT")
    sft_seconds: float = Field(default=200, gt=0, description="CPU seconds of the first SFT, of all its processes")
    rl_seconds: float = Field(default=25, gt=0, description="CPU seconds of GRPO, and of its SFT control")
    round_seconds: float = Field(default=30, gt=0, description="CPU seconds of continued training in each arm")
    targeted_tasks: int = Field(default=70, ge=1, description="new tasks in the directed arm, and in the control arm")
    weak_environments: int = Field(default=5, ge=1, description="environments that the diagnosis returns")
    models: str = Field(default="", description="the file that says which model plays which role; '': none, rules play")
    research: ResearchSettings = Field(
        default=ResearchSettings(), description="where a researcher with a model may look, and its budgets"
    )
    max_cost: float | None = Field(
        default=None, ge=0, description="US dollars that the store may ever spend on models; None: no cap"
    )


DEFAULTS = Settings()
"""The scale of `agentworld run`."""

QUICK = Settings(
    train_tasks=24,
    rl_tasks=12,
    development_tasks=8,
    diagnosis_tasks=16,
    arena_tasks=24,
    variants=1,
    practice_tasks=40,
    sft_processes=1,
    sft_seconds=8,
    rl_seconds=5,
    round_seconds=5,
    targeted_tasks=12,
    weak_environments=2,
)
"""A scale that shows the whole loop on a few themes; its figures mean nothing."""


def is_quick(settings: Settings) -> bool:
    """Say whether the settings are so small, as QUICK is, that a run's success rates and comparisons mean nothing."""
    return settings.sft_seconds <= QUICK.sft_seconds or settings.arena_tasks <= QUICK.arena_tasks
