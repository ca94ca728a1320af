"""What a researcher with a model may do and spend, and the record of what it did."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from schemas.base import Record


class ResearchSettings(Record):
    """Where a researcher with a model may look, and its budgets for one theme; rules use none of this.

    Without `web` it sees the corpus and `pages` only: the addresses named there, what lies below one that ends in '/',
    and the data files of the same host that such a page links to.
    """

    web: bool = Field(default=False, description="open public pages, and search")
    search: str = Field(default="", description="the URL of a SearXNG server, or 'ddgs'; '': no search engine")
    pages: tuple[str, ...] = Field(default=(), description="addresses that it is told of and may always open")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="hosts, or host:port, that may be opened although their address is not public"
    )
    host_interval: float = Field(default=1.0, ge=0, description="seconds between two requests to one host")
    rounds: int = Field(default=3, ge=0, description="further rounds that ask for connected tables, at most")
    steps: int = Field(default=80, ge=1, description="calls of the model, over all rounds")
    opened: int = Field(default=40, ge=0, description="pages and files that are opened")
    seconds: float = Field(default=1800, gt=0, description="seconds of models and tools")
    tokens: int = Field(default=3_000_000, ge=1, description="tokens read and written by the model")
    usd: float | None = Field(default=None, ge=0, description="US dollars; None: the cap of the run alone")


ResearchEnd = Literal["rules", "done", "steps", "seconds", "tokens", "usd", "failed"]


class ResearchRound(Record):
    """One round of a researcher: how it ended, and how much could be done in the world afterwards.

    `subgraphs` is the number of distinct executable tool subgraphs (`tasks.mining.agent.subgraphs`).
    """

    round: int
    ended: ResearchEnd
    reason: str = ""
    steps: int = 0
    tokens: int = 0
    tables: tuple[str, ...] = ()
    subgraphs: int = 0


class Research(Record):
    """The research behind one environment: who did it, its rounds, and each call with its outcome.

    Each entry of `log` is {tool, arguments, outcome}; `refused` counts what was not allowed or not believed, by gate.
    """

    env_id: str
    theme_id: str
    researcher: str = Field(description="the model's id, or 'rules'")
    rounds: tuple[ResearchRound, ...] = ()
    refused: dict[str, int] = Field(default_factory=dict)
    log: tuple[dict[str, Any], ...] = ()
    findings_sha256: str = Field(description="blob of the findings, from which variants are made")
