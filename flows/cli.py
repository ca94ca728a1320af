"""The command line: `agentworld`. Heavy imports wait inside the commands, so that --help answers at once."""

from __future__ import annotations

import sys

import typer

from flows.commands import importing, improving, judging, looking, making, serving, upkeep
from flows.orphans import end_orphans, mark_children
from flows.runtime import configure

app = typer.Typer(
    name="agentworld",
    help="A factory of executable environments and verified tasks that trains and diagnoses tool-using agents.\n\n"
    "Example: agentworld run --store ./store",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich costs more to import than all else that --help needs
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (making, improving, judging, looking, serving, upkeep):
    app.add_typer(group.commands)
app.add_typer(importing.commands, name="import")


def main() -> None:
    """Run the command line. Exit code 0: done; 1: done, but something failed; 2: it could not be done as asked."""
    from flows.ends import STOPPED, explained, flushed, tell_stop

    configure()
    end_orphans()
    mark_children()
    tell_stop()
    try:
        with flushed():
            app(standalone_mode=True)
    except KeyboardInterrupt:
        typer.echo(f"agentworld: interrupted; {STOPPED}", err=True)
        sys.exit(1)
    except Exception as error:
        end = explained(error)
        if end is None:
            raise
        typer.echo(f"agentworld: {end.line}", err=True)
        sys.exit(end.code)


if __name__ == "__main__":
    main()
