"""Discover themes: collect source documents, merge near-duplicates, place them in the taxonomy."""

from __future__ import annotations

from prefect import flow, task
from prefect.artifacts import create_table_artifact

from flows.runtime import compute, default_store
from schemas.base import content_hash
from schemas.settings import DEFAULTS, Settings
from schemas.theme import Theme
from tasks.store import open_store, read_dataset, write_dataset


def discover_themes(store_uri: str, settings: Settings) -> list[str]:
    """Collect, merge and classify themes, and write `themes`, `sources` and `rejections`; return the theme ids."""
    from tasks.taxonomy import classify
    from tasks.themes import collect, merge_duplicates

    store = open_store(store_uri)
    found = collect(None if settings.embedded else (), extra_paths=settings.specs)
    themes, merged = merge_duplicates(found.themes)
    themes = classify(themes)
    write_dataset(store, "themes", "all", themes)
    write_dataset(store, "sources", "themes", found.sources)
    write_dataset(store, "rejections", "themes", [*found.rejections, *merged])
    return [theme.theme_id for theme in themes]


def selected_themes(store_uri: str, settings: Settings) -> list[Theme]:
    """Return the stored themes that the settings ask for."""
    themes: list[Theme] = read_dataset(open_store(store_uri), "themes", "all")
    return [t for t in themes if not settings.themes or t.theme_id.startswith(settings.themes)]


def theme_hash(theme: Theme) -> str:
    """Return the hash of what a build reads of a theme."""
    return content_hash(theme)


@task(name="collect-themes", retries=1, retry_delay_seconds=2)
def collect_themes(store_uri: str, settings: Settings) -> list[str]:
    """Run `discover_themes` on a worker. Never cached: reading the documents is how a change is noticed."""
    return compute(discover_themes, store_uri, settings)


@flow(name="discover")
def discover(store: str | None = None, settings: Settings = DEFAULTS) -> list[str]:
    """Collect the themes of all configured sources. Returns the ids of the themes kept."""
    uri = open_store(store or default_store()).uri
    ids = collect_themes(uri, settings)
    rows = [
        {"theme": t.name, "kind": t.kind, "category": t.category_l1, "source": t.source_uri}
        for t in read_dataset(open_store(uri), "themes", "all")
    ]
    create_table_artifact(key="themes", table=rows, description="Themes kept, with category and source")
    return ids
