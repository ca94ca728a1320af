"""From a theme to an executable world: research, workflows, complexification, assembly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from schemas.base import content_hash
from schemas.theme import Theme
from tasks.mining.assemble import assemble
from tasks.mining.complexify import connect
from tasks.mining.corpus import Corpus
from tasks.mining.findings import RULES, Findings, MinedTable
from tasks.mining.follow import Followed, follow
from tasks.mining.gates import sound
from tasks.mining.researcher import Researcher, RuleResearcher, research
from tasks.mining.trim import trim
from tasks.mining.workflows.choose import MINIMUM_ROWS, Match, choose, theme_words
from tasks.mining.workflows.compose import compose
from tasks.mining.workflows.draft import Draft
from tasks.mining.world import MiningError, World, rejection

MINED_ROWS = 1500
"""About how many mined rows a world has before complexification."""


def mine(
    theme: Theme,
    corpus: Corpus,
    *,
    seed: int,
    rounds: int = 1,
    guideline: dict[str, Any] | None = None,
    researcher: Researcher | None = None,
) -> World:
    """Return the world of a theme; another seed gives a variant of the same structure with other rows and state.

    Args:
        theme: what the world is about.
        corpus: where its data comes from.
        seed: decides which rows are sampled and how the generated state came about.
        rounds: rounds of complexification; each adds connected tables.
        guideline: a diagnosis' guideline: `skills` and `kinds` steer which tables are added, and `needs_data` asks
            for two generated additions a round instead of one.
        researcher: who mines; None: rules. If what a model found makes no world, rules mine the theme again.

    Raises:
        MiningError: if the theme gives no world; its rejections say why.
    """
    found = (researcher or RuleResearcher()).research(theme, corpus, seed)
    try:
        return build(theme, found, corpus, seed=seed, rounds=rounds, guideline=guideline)
    except MiningError as error:
        if found.researcher == RULES:
            raise
        again = replace(research(theme, corpus, seed), rounds=found.rounds, refused=found.refused, log=found.log)
        again.rejections[:0] = error.rejections
    return build(theme, again, corpus, seed=seed, rounds=rounds, guideline=guideline)


def variant(theme: Theme, corpus: Corpus, world: World, *, seed: int) -> World:
    """Return a seeded variant of a world that `mine` made without a guideline: same structure, other rows and state.

    Raises:
        MiningError: as `mine`.
    """
    return mine(theme, corpus, seed=seed, rounds=world.database.complexified)


def build(
    theme: Theme,
    findings: Findings,
    corpus: Corpus | None = None,
    *,
    seed: int,
    rounds: int = 1,
    guideline: dict[str, Any] | None = None,
) -> World:
    """Return the world that findings make; without a corpus, complexification adds generated tables only.

    Raises:
        MiningError: if no mined table has enough rows for a workflow, or the world cannot be assembled.
    """
    tables, rejections = sound(findings)
    rejections = [*findings.rejections, *rejections]
    tables = trim(tables, MINED_ROWS, seed)
    matches = choose(theme, [mined.table for mined in tables])
    if not matches:
        sizes = ", ".join(f"{mined.table.name} {len(mined.rows)}" for mined in tables) or "none"
        reason = f"no mined table has the {MINIMUM_ROWS} rows that a workflow needs (found: {sizes}); add data for it"
        raise MiningError([*rejections, rejection(theme.theme_id, "no_resource", reason)])
    draft = Draft(start_of(theme, tables))
    for mined in tables:
        draft.add_mined(mined)
    casts = compose(draft, theme, matches, seed)
    sources = list(findings.sources)
    added: list[str] = []
    done = 0
    for round_ in range(1, rounds + 1):
        names: list[str] = []
        followed = _further(theme, tables, corpus, draft, seed + round_)
        if followed is not None:
            _take(draft, tables, followed)
            sources.append(followed.source)
            names.append(followed.mined.table.name)
        for _ in range(2 if (guideline or {}).get("needs_data") else 1):
            made, missing = connect(draft, theme, casts, seed, round_, guideline)
            rejections += missing
            names += made
        added += names
        done += bool(names)
    return assemble(
        draft,
        theme,
        environment_id(theme, seed, rounds, guideline),
        tables,
        findings.documents,
        sources,
        seed=seed,
        chosen=_explain(matches),
        decided=_decided(matches),
        complexified=done,
        added=added,
        rejections=rejections,
        findings=findings,
    )


def environment_id(theme: Theme, seed: int, rounds: int, guideline: dict[str, Any] | None) -> str:
    """Return the id of a world: theme, seed, then rounds and guideline where they are not the default."""
    parts = [theme.theme_id, f"s{seed}"]
    if rounds != 1:
        parts.append(f"r{rounds}")
    if guideline:
        parts.append(f"g{content_hash(guideline)[:6]}")
    return "-".join(parts)


def start_of(theme: Theme, tables: Sequence[MinedTable]) -> datetime:
    """Return when a theme's episodes start: a working day of the latest year that its mined dates reach, else 2024.

    The day is derived from the theme, so that all its variants share the calendar.
    """
    years = [
        int(str(row[column.name])[:4])
        for mined in tables
        for column in mined.table.columns
        if column.type in ("date", "datetime")
        for row in mined.rows
        if row[column.name] is not None
    ]
    year = max((y for y in years if y <= 2026), default=2024)
    day = datetime(year, 3, 1, 9) + timedelta(days=int(content_hash(theme.theme_id)[:8], 16) % 240)
    return day - timedelta(days=max(0, day.weekday() - 4))


def _further(
    theme: Theme, tables: Sequence[MinedTable], corpus: Corpus | None, draft: Draft, seed: int
) -> Followed | None:
    """Return the next table that references lead to, unless a table of that name has been generated."""
    if corpus is None:
        return None
    followed = follow(corpus, tables, theme_words(theme), seed)
    return None if followed is None or followed.mined.table.name in draft.tables else followed


def _take(draft: Draft, tables: list[MinedTable], followed: Followed) -> None:
    draft.add_mined(followed.mined)
    for name, columns in followed.columns.items():
        changed = {column.name: column for column in columns}
        table = draft.tables[name]
        table = table.model_copy(update={"columns": tuple(changed.get(c.name, c) for c in table.columns)})
        draft.tables[name] = table
        place = next(n for n, mined in enumerate(tables) if mined.table.name == name)
        tables[place] = replace(tables[place], table=table.model_copy(update={"rows": len(tables[place].rows)}))
    tables.append(followed.mined)


def _explain(matches: Sequence[Match]) -> str:
    kinds = ("main", "second")
    told = [
        f"Its {kind} process is {match.archetype.name} about {match.resource.nouns}."
        for kind, match in zip(kinds, matches, strict=False)
    ]
    return " ".join(told)


def _decided(matches: Sequence[Match]) -> str:
    """Return the words that decided for each process, for the provenance of the policy document."""
    return "; ".join(f"{match.archetype.name}: {', '.join(match.words) or 'by its mined data'}" for match in matches)
