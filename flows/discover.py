"""Discover themes: collect source documents, merge near-duplicates, place them in the taxonomy."""

from __future__ import annotations

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.errors import Refused
from flows.inputs import check_sources
from flows.ready import need_themes
from flows.runtime import compute, default_store, run_name
from schemas.base import content_hash
from schemas.settings import DEFAULTS, Settings
from schemas.theme import Theme
from tasks.store import open_store, read_dataset, write_dataset


def discover_themes(store_uri: str, settings: Settings) -> list[str]:
    """Collect, merge and classify themes, and write `themes`, `sources` and `rejections`; return the theme ids.

    If no theme comes of the sources, only the rejections are written: the store's older themes stay.
    """
    from tasks.taxonomy import classify
    from tasks.themes import collect, merge_duplicates

    store = open_store(store_uri)
    found = collect(None if settings.embedded else (), extra_paths=settings.specs)
    themes, merged = merge_duplicates(found.themes)
    themes = classify(themes)
    write_dataset(store, "rejections", "themes", [*found.rejections, *merged])
    if not themes:
        return []
    write_dataset(store, "themes", "all", themes)
    write_dataset(store, "sources", "themes", found.sources)
    return [theme.theme_id for theme in themes]


def selected_themes(store_uri: str, settings: Settings) -> list[Theme]:
    """Return the stored themes that the settings ask for, in id order.

    Of more than `settings.environments`, the first of each category is taken, then the second of each, and so on.
    Themes of the user's own specifications come before the embedded ones, or alone if the settings say so.

    Raises:
        Refused: if the store has no themes.
    """
    need_themes(store_uri)
    themes: list[Theme] = read_dataset(open_store(store_uri), "themes", "all")
    themes = [t for t in themes if settings.embedded or t.source_uri.startswith("file:")]
    themes = [t for t in themes if not settings.themes or t.theme_id.startswith(settings.themes)]
    if not settings.environments or len(themes) <= settings.environments:
        return themes
    place: dict[str, int] = {}
    met: dict[str, int] = {}
    for theme in sorted(themes, key=lambda t: t.theme_id):
        place[theme.theme_id] = met.get(theme.category_l1, 0)
        met[theme.category_l1] = place[theme.theme_id] + 1
    own = [not theme.source_uri.startswith("file:") for theme in themes]
    order = sorted(zip(own, themes, strict=True), key=lambda pair: (pair[0], place[pair[1].theme_id], pair[1].theme_id))
    return sorted((theme for _, theme in order[: settings.environments]), key=lambda t: t.theme_id)


def theme_hash(theme: Theme) -> str:
    """Return the hash of what a build reads of a theme."""
    return content_hash(theme)


@task(name="collect-themes", retries=1, retry_delay_seconds=2)
def collect_themes(store_uri: str, settings: Settings) -> list[str]:
    """Run `discover_themes` on a worker. Never cached: reading the documents is how a change is noticed."""
    return compute(discover_themes, store_uri, settings)


@flow(name="discover", flow_run_name=run_name("discover"))
def discover(store: str | None = None, settings: Settings = DEFAULTS) -> list[str]:
    """Collect the themes of all configured sources. Returns the ids of the themes kept.

    Raises:
        Refused: if a named path is missing, or if no theme comes of the sources; the store's older themes stay.
    """
    check_sources(settings)
    uri = open_store(store or default_store()).uri
    ids = collect_themes(uri, settings)
    if not ids:
        raise Refused(
            f"no theme came of the sources, so the themes in {uri} stay as they were: "
            f"`agentworld ls rejections --store {uri}` says why each was refused"
        )
    rows = [
        {"theme": t.name, "kind": t.kind, "category": t.category_l1, "source": t.source_uri}
        for t in read_dataset(open_store(uri), "themes", "all")
    ]
    create_table_artifact(key="themes", table=rows, description="Themes kept, with category and source")
    return ids
