"""Discover themes: collect source documents, filter them, merge duplicates, place them in the taxonomy."""

from __future__ import annotations

import contextlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.errors import Refused
from flows.inputs import check_sources
from flows.ready import need_themes
from flows.runtime import compute, default_store, run_name
from schemas.base import content_hash
from schemas.settings import DEFAULTS, Settings
from schemas.theme import Theme
from tasks.store import Store, open_store, read_dataset, write_dataset

if TYPE_CHECKING:
    from tasks.themes import SourceSpec

TAXONOMY = "taxonomy/clusters.parquet"
"""The key of the taxonomy that was fitted to this store's themes, if there were enough of them."""

MOST_ROWS = 500
"""Themes that the artifact of a discovery lists."""


def discover_themes(store_uri: str, settings: Settings, refit: bool = False, show: bool = False) -> list[str]:
    """Collect, filter, merge and classify themes, and write `themes`, `sources` and `rejections`; return the theme ids.

    If no theme comes of the sources, only the rejections are written: the store's older themes stay.

    Args:
        refit: fit the taxonomy anew although the store has one; themes may then change their places.
        show: show on standard error how far it is.
    """
    from tasks.themes import collect, keep_suitable, merge_duplicates

    store = open_store(store_uri)
    with _shown(show) as progress:
        found = collect(source_specs(settings), extra_paths=settings.specs, progress=progress)
    suitable, unfit = keep_suitable(found.themes)
    themes, merged = merge_duplicates(suitable)
    write_dataset(store, "rejections", "themes", [*found.rejections, *unfit, *merged])
    if not themes:
        return []
    themes = _placed(store, themes, refit)
    write_dataset(store, "themes", "all", themes)
    write_dataset(store, "sources", "themes", found.sources)
    return [theme.theme_id for theme in themes]


def source_specs(settings: Settings) -> list[SourceSpec]:
    """Return the sources that the settings name, files and folders aside."""
    from tasks.themes import SourceSpec, default_sources

    return [
        *(default_sources() if settings.embedded else ()),
        *(SourceSpec(registry=address) for address in settings.registries),
        *(SourceSpec(url=url) for url in settings.mcp_urls),
        *(SourceSpec(command=tuple(shlex.split(command))) for command in settings.mcp_commands),
    ]


def discovery_counts(store_uri: str) -> dict[str, dict[str, int]]:
    """Return of the newest discovery how many themes each category has, and how many refusals each gate."""
    store = open_store(store_uri)
    return {
        "categories": dict(Counter(theme.category_l1 for theme in read_dataset(store, "themes", "all")).most_common()),
        "refused": dict(Counter(one.gate for one in read_dataset(store, "rejections", "themes")).most_common()),
    }


def _placed(store: Store, themes: Sequence[Theme], refit: bool) -> list[Theme]:
    """Return the themes with their categories: by the stored taxonomy, by a new one if they are many, else by rules."""
    from tasks.taxonomy import COLLECTION, classify, dump_taxonomy, fit_taxonomy, load_taxonomy

    if store.exists(TAXONOMY) and not refit:
        return load_taxonomy(store.get(TAXONOMY)).classify(themes)
    if len(themes) < COLLECTION:
        store.delete(TAXONOMY)
        return classify(themes)
    store.put(TAXONOMY, dump_taxonomy(fit_taxonomy(themes)))
    return load_taxonomy(store.get(TAXONOMY)).classify(themes)


@contextlib.contextmanager
def _shown(show: bool) -> Iterator[Callable[[int, int, int], None]]:
    if not show:
        yield lambda total, found, refused: None
        return
    from flows.console import bar

    counts = [0, 0, 0]
    with bar("Documents", None) as advance:

        def progress(total: int, found: int, refused: int) -> None:
            for place, number in enumerate((1, found, refused)):
                counts[place] += number
            advance(1, f"of {total}: {counts[1]} themes, {counts[2]} refused")

        yield progress


def selected_themes(store_uri: str, settings: Settings) -> list[Theme]:
    """Return the stored themes that the settings ask for, in id order.

    Of more than `settings.environments`, the first of each category is taken, then the second of each, and so on.
    Themes of the user's own specifications come before the embedded ones, or alone if the settings say so.

    Raises:
        Refused: if the store has no themes.
    """
    need_themes(store_uri)
    themes: list[Theme] = read_dataset(open_store(store_uri), "themes", "all")
    themes = [t for t in themes if settings.embedded or _is_own(t)]
    themes = [t for t in themes if not settings.themes or t.theme_id.startswith(settings.themes)]
    if not settings.environments or len(themes) <= settings.environments:
        return themes
    place: dict[str, int] = {}
    met: dict[str, int] = {}
    for theme in sorted(themes, key=lambda t: t.theme_id):
        place[theme.theme_id] = met.get(theme.category_l1, 0)
        met[theme.category_l1] = place[theme.theme_id] + 1
    own = [not _is_own(theme) for theme in themes]
    order = sorted(zip(own, themes, strict=True), key=lambda pair: (pair[0], place[pair[1].theme_id], pair[1].theme_id))
    return sorted((theme for _, theme in order[: settings.environments]), key=lambda t: t.theme_id)


def _is_own(theme: Theme) -> bool:
    """Say whether a theme comes of the user's sources: those of the embedded ones are packages."""
    return not theme.source_uri.startswith("pkg:")


def theme_hash(theme: Theme) -> str:
    """Return the hash of what a build reads of a theme."""
    return content_hash(theme)


@task(name="collect-themes", retries=1, retry_delay_seconds=2)
def collect_themes(store_uri: str, settings: Settings, refit: bool = False, show: bool = False) -> list[str]:
    """Run `discover_themes` on a worker. Never cached: reading the documents is how a change is noticed."""
    return compute(discover_themes, store_uri, settings, refit, show)


@flow(name="discover", flow_run_name=run_name("discover"))
def discover(
    store: str | None = None, settings: Settings = DEFAULTS, refit: bool = False, show: bool = False
) -> list[str]:
    """Collect the themes of all configured sources. Returns the ids of the themes kept.

    Raises:
        Refused: if a named path is missing, or if no theme comes of the sources; the store's older themes stay.
    """
    check_sources(settings)
    uri = open_store(store or default_store()).uri
    ids = collect_themes(uri, settings, refit, show)
    if not ids:
        raise Refused(
            f"no theme came of the sources, so the themes in {uri} stay as they were: "
            f"`agentworld ls rejections --store {uri}` says why each was refused"
        )
    rows: list[dict[str, Any]] = [
        {"theme": t.name, "kind": t.kind, "category": t.category_l1, "source": t.source_uri}
        for t in read_dataset(open_store(uri), "themes", "all")
    ]
    about = f"{len(rows)} themes kept, with category and source; at most {MOST_ROWS} are listed"
    create_table_artifact(key="themes", table=rows[:MOST_ROWS], description=about)
    return ids
