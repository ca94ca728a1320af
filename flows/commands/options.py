"""Options that several commands share, and the settings that they stand for."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

StoreOption = Annotated[
    str, typer.Option("--store", envvar="AGENTWORLD_STORE", help="Where data lives: a folder, file:// or s3://bucket/x")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output")]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of every random choice  [default: 7]")]
SpecOption = Annotated[
    list[str] | None, typer.Option("--spec", help="A source document or folder of them, beside the embedded (repeat)")
]
CorpusOption = Annotated[
    list[str] | None, typer.Option("--corpus", help="A data file or folder, beside the embedded packages (repeat)")
]
ThemeOption = Annotated[
    list[str] | None, typer.Option("--theme", help="Only themes whose id starts with this (repeat)")
]
CountOption = Annotated[
    int | None,
    typer.Option("--environments", min=0, help="At most so many themes, spread over categories; 0: all  [default: 12]"),
]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="A small scale that shows the loop in minutes; its figures mean nothing")
]
EmbeddedOption = Annotated[bool, typer.Option("--embedded/--no-embedded", help="Use the embedded themes as well")]
AgainOption = Annotated[
    bool | None,
    typer.Option("--embedded/--no-embedded", help="Use the embedded themes as well  [default: as in the build before]"),
]

ModelsOption = Annotated[
    str | None,
    typer.Option(
        "--models",
        envvar="AGENTWORLD_MODELS",
        help="The TOML file that says which model plays which role; without it, rules do",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="Stop models before this store has spent more USD on them, in all its runs"),
]


def settings_of(
    seed: int | None = None,
    quick: bool = False,
    specs: list[str] | None = None,
    corpus: list[str] | None = None,
    themes: list[str] | None = None,
    embedded: bool = True,
    models: str | None = None,
    **others: Any,
) -> Any:
    """Return the settings that the options of a command ask for; what is None stays as the scale has it."""
    from schemas.settings import DEFAULTS, QUICK

    changes: dict[str, Any] = {key: value for key, value in others.items() if value is not None}
    if seed is not None:
        changes["seed"] = seed
    if models:
        changes["models"] = os.path.abspath(models)  # workers may run in another folder
    base = QUICK if quick else DEFAULTS
    return base.model_validate(
        {
            **base.model_dump(),
            "specs": tuple(specs or ()),
            "corpus": tuple(corpus or ()),
            "themes": tuple(themes or ()),
            "embedded": embedded,
            **changes,
        }
    )


def like_built(store: str, settings: Any) -> Any:
    """Return the settings with the corpus that the store's environments were built from."""
    from flows.remembered import like_last

    corpus = like_last(store, settings).corpus
    for path in corpus:
        if not os.path.exists(path):
            typer.echo(f"the corpus {path} of the last build is gone: variants are made without it", err=True)
    return settings.model_copy(update={"corpus": tuple(path for path in corpus if os.path.exists(path))})


def with_models(settings: Any) -> Any:
    """Return the settings, once the models that they name are known to work; nothing is imported where none is named.

    Raises:
        Refused: if a model cannot be used, or a cap on money cannot be kept.
    """
    if settings.models or any(name.startswith("AGENTWORLD_MODEL_") for name in os.environ):
        from flows.models import check_models

        check_models(settings)
    return settings
