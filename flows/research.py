"""The researcher of a build: rules, or a model with the web as far as the settings open it; and the record of it."""

from __future__ import annotations

from typing import Any

from flows.errors import Refused
from flows.models import gateway, model_ids
from schemas.research import Research, ResearchSettings
from schemas.settings import Settings
from tasks.mining import Findings, Researcher, World, dump_findings, load_findings
from tasks.store import Store, get_blob, list_keys, open_store, put_blob, read_dataset

KEEP = ("model_unreachable", "model_cost")
"""Gates that leave a build unfinished: a later one asks the model again."""


def researcher(store_uri: str, settings: Settings) -> Researcher | None:
    """Return the researcher that the settings give the role, or None for rules.

    Raises:
        Refused: if the configuration of models cannot be used.
    """
    if "researcher" not in model_ids(settings):
        return None
    from tasks.mining.agent import ModelResearcher

    return ModelResearcher(
        gateway(store_uri, settings), _web(open_store(store_uri), settings.research), settings.research
    )


def research_key(settings: Settings) -> list[Any]:
    """Return what the researcher's findings depend on beside theme, corpus and seed: nothing for rules."""
    model = model_ids(settings).get("researcher")
    if model is None:
        return []
    from tasks.mining.agent import TEMPLATES
    from tasks.models import templates_hash

    return [model, templates_hash(*TEMPLATES), settings.research.model_dump(mode="json")]


def check_research(settings: Settings) -> None:
    """Check that what the options open can be used by somebody.

    Raises:
        Refused: if no model plays the researcher, who alone uses them, or a host to allow is none.
    """
    from tasks.web import Guard

    research = settings.research
    if "researcher" not in model_ids(settings):
        raise Refused(
            "--web, --search, --page, --allow-host and --research are for a researcher with a model, and none is "
            "configured: name one by --models or AGENTWORLD_MODEL_RESEARCHER; rules use the corpus alone"
        )
    if research.search and not research.web:
        raise Refused("--search needs --web: without it nothing is opened but the pages that --page names")
    try:
        Guard(research.allow_hosts)
    except ValueError as error:
        raise Refused(f"--allow-host: {error}") from error


def record_of(store: Store, world: World, theme_id: str) -> Research:
    """Return the record of the research behind a world; a model's findings are kept, to make variants of."""
    found = world.findings
    by_model = found.researcher != "rules"
    return Research(
        env_id=world.database.env_id,
        theme_id=theme_id,
        researcher=found.researcher,
        rounds=tuple(found.rounds),
        refused=found.refused,
        log=tuple(found.log),
        findings_sha256=put_blob(store, dump_findings(found)) if by_model else "",
    )


class _Kept:
    """A researcher that brings home once more what a model found."""

    def __init__(self, found: Findings) -> None:
        self._found = found

    def research(self, theme: object, corpus: object, seed: int) -> Findings:
        """Return the findings."""
        return self._found


def kept_researcher(store: Store, env_id: str) -> Researcher | None:
    """Return who brings home the findings that an environment was made of; None: rules find them anew."""
    if env_id not in list_keys(store, "research"):
        return None
    row: Research = read_dataset(store, "research", env_id)[0]
    return _Kept(load_findings(get_blob(store, row.findings_sha256))) if row.findings_sha256 else None


def _web(store: Store, research: ResearchSettings) -> Any:
    from tasks.web import Ddgs, Limits, Searxng, Web

    if not research.web and not research.pages:
        return None
    limits = Limits(host_interval=research.host_interval)
    engine = None
    if research.web and research.search:
        engine = Ddgs() if research.search == "ddgs" else Searxng(research.search, limits)
    return Web(store, allow=research.allow_hosts, engine=engine, limits=limits)
