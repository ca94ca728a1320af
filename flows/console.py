"""What a person sees while a flow runs: one progress bar a stage with counts, on standard error, and plain lines."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

console = Console(stderr=True, highlight=False)
out = Console(highlight=False)


EVERY_S = 30.0
"""Off a terminal, seconds between two lines about a stage that is under way."""


@contextlib.contextmanager
def bar(title: str, total: int | None, watch: Callable[[], str] | None = None) -> Iterator[Callable[..., None]]:
    """Yield `advance(count=1, text="")` for a bar of `total` items.

    Off a terminal, a line is printed every `EVERY_S` seconds and one at the end.

    Args:
        watch: says what else there is to tell; asked every few seconds, while items may still take minutes.
    """
    said, done, began, ended = "", 0.0, time.monotonic(), threading.Event()
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

        def note() -> str:
            return ", ".join(part for part in (said, watch() if watch else "") if part)

        def advance(count: float = 1, text: str = "") -> None:
            nonlocal said, done
            said, done = text or said, done + count
            progress.update(task, advance=count, note=said)

        def tell() -> None:
            while not ended.wait(5.0 if console.is_terminal else EVERY_S):
                if console.is_terminal:
                    progress.update(task, note=note())
                else:
                    so_far = f"{done:.0f} of {total}" if total else f"{done:.0f}"
                    line = f"{title:<34} {so_far} after {time.monotonic() - began:.0f} s  {note()}"
                    console.print(line.rstrip(), markup=False, soft_wrap=True)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield advance
        finally:
            ended.set()
            teller.join()
    if not console.is_terminal:
        console.print(f"{title:<34} {note()}".rstrip(), markup=False, soft_wrap=True)
