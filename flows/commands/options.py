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
WebOption = Annotated[
    bool | None, typer.Option("--web/--no-web", help="A researcher with a model may open public pages  [default: no]")
]
SearchOption = Annotated[
    str | None, typer.Option("--search", envvar="AGENTWORLD_SEARCH", help="With --web: a SearXNG URL, or ddgs")
]
PageOption = Annotated[
    list[str] | None, typer.Option("--page", help="An address that a researcher with a model may open (repeat)")
]
HostOption = Annotated[
    list[str] | None, typer.Option("--allow-host", help="Open this host although its address is not public (repeat)")
]
ResearchOption = Annotated[
    list[str] | None,
    typer.Option("--research", help="A budget of a researcher with a model, as steps=40 (repeat)",
                 metavar="NAME=VALUE"),
]  # fmt: skip


def research_of(
    web: bool | None,
    search: str | None,
    pages: list[str] | None,
    hosts: list[str] | None,
    budgets: list[str] | None,
) -> Any:
    """Return the research settings that options ask for, or None if none is given.

    Raises:
        Refused: if a budget is none.
    """
    given: dict[str, Any] = {"web": web, "search": search if web else None, "pages": pages, "allow_hosts": hosts}
    given = {name: value for name, value in given.items() if value}
    if not given and not budgets:
        return None
    from pydantic import ValidationError

    from flows.errors import Refused
    from schemas.research import ResearchSettings

    for budget in budgets or ():
        name, _, value = budget.partition("=")
        given[name.strip()] = value.strip()
    try:
        return ResearchSettings.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Refused(
            f"--research {place}: {first['msg']}; budgets are rounds, steps, opened, seconds, tokens, usd"
        ) from None


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
        Refused: if a model cannot be used, a cap on money cannot be kept, or options are for a model that is not there.
    """
    if settings.models or any(name.startswith("AGENTWORLD_MODEL_") for name in os.environ):
        from flows.models import check_models

        check_models(settings)
    if settings.research != type(settings.research)():
        from flows.research import check_research

        check_research(settings)
    return settings
