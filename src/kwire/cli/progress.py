"""Progress bar of long commands on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kwire.cli.terminal import console, held_for_display, volume

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(begins_with: str) -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function of the phase, the bytes done and the total (0 if unknown); it shows nothing in a pipe or with `--quiet`."""
    err = console(stderr=True)
    if not err.is_terminal or volume() < 0:
        yield lambda _what, _done, _total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from kwire.report.amounts import bytes_of

    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[amount]}"),
        TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(compact=True),
    )  # fmt: skip
    with held_for_display(err), Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(begins_with, total=None, amount="")

        def show(what: str, done: int, total: int) -> None:
            amount = f"{bytes_of(done)} of {bytes_of(total)}" if total else ""
            bar.update(task, description=what, completed=done, total=total or None, amount=amount)

        yield show
