"""The settings that a store's environments were built with, so that building them again uses the same data."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from schemas.base import canonical_json
from schemas.settings import Settings
from schemas.theme import Theme
from tasks.store import open_store

KEPT = ("seed", "corpus", "embedded", "complexify_rounds", "research")
"""The settings that decide what a theme's environment becomes."""

_KEY = "builds/settings.json"


def recall(store_uri: str) -> dict[str, Any]:
    """Return {last: the kept settings of the newest build, themes: {theme_id: those of its own newest build}}."""
    store = open_store(store_uri)
    if not store.exists(_KEY):
        return {"last": {}, "themes": {}}
    return json.loads(store.get(_KEY))


def remember(store_uri: str, settings: Settings, plans: dict[str, Settings]) -> None:
    """Keep the settings of a build that begins: as the newest, and for each theme that it builds.

    Args:
        plans: theme id -> the settings that it is built with.
    """
    known = recall(store_uri)
    known["last"] = _kept(settings)
    known["themes"].update({theme_id: _kept(plan) for theme_id, plan in plans.items()})
    open_store(store_uri).put(_KEY, canonical_json(known).encode())


def like_last(store_uri: str, settings: Settings, given: Collection[str] = ()) -> Settings:
    """Return the settings with what the newest build used, except what is `given` anew (names of settings)."""
    return _updated(settings, recall(store_uri)["last"], given)


def like_before(
    store_uri: str, themes: Iterable[Theme], settings: Settings, given: Collection[str]
) -> dict[str, Settings]:
    """Return for each theme the settings that it was last built with, except what is `given` anew."""
    known = recall(store_uri)["themes"]
    return {t.theme_id: _updated(settings, known.get(t.theme_id, {}), given) for t in themes}


def _kept(settings: Settings) -> dict[str, Any]:
    values = settings.model_dump(mode="json", include=set(KEPT))
    return {**values, "corpus": [str(Path(path).absolute()) for path in settings.corpus]}


def _updated(settings: Settings, known: dict[str, Any], given: Collection[str]) -> Settings:
    changes = {name: value for name, value in known.items() if name in KEPT and name not in given}
    return Settings.model_validate({**settings.model_dump(), **changes})
