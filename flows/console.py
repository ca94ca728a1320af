"""What a person sees while a flow runs: one progress bar a stage with counts, on standard error, and plain lines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

console = Console(stderr=True, highlight=False)
out = Console(highlight=False)


@contextlib.contextmanager
def bar(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Yield `advance(done=1, note="")` for a bar of `total` items. Off a terminal, one line is printed at the end."""
    last = ""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<34}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        disable=not console.is_terminal,
        transient=False,
    ) as progress:
        task = progress.add_task(title, total=total, note="")

        def advance(done: float = 1, note: str = "") -> None:
            nonlocal last
            last = note or last
            progress.update(task, advance=done, note=last)

        yield advance
    if not console.is_terminal:
        console.print(f"{title:<34} {last}".rstrip(), markup=False, soft_wrap=True)
