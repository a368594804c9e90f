"""Progress on stderr: one line per stage with its time, and the sweeps while sampling."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from coterie._memory import in_units
from coterie._sentence import counted
from coterie._system import release_memory
from coterie.cli.words import duration

_EVERY = 10.0  # seconds between lines if stderr is not a terminal (a log file)
_SHORT = 1.0  # seconds after which a stage shows how much of it is done
_LONG = 15.0  # seconds of sampling left from which Ctrl-C is mentioned
_RECENT = 5  # sweeps used to estimate the time left
_UNITS = {"sampling": "sweeps over a sample", "sample": "sweeps"}  # of a stage; others count texts
_SHARES = ("levels", "placing", "settling")  # stages that are shown in percent


class Stages:
    """Call `enter` when a stage starts and `close` at the end; `sweep` is a sampler callback."""

    def __init__(self, quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self.n_sweeps = 0
        self._current: str | None = None
        self._began = 0.0
        self._detail = ""
        self._first: tuple[float, int] | None = None  # when the first unit was done, and how many
        self._last_line = 0.0
        self._write = not quiet
        self._bar: Any = None
        self._task: Any = None
        self._hinted = False
        if quiet:
            logging.getLogger("coterie").setLevel(logging.ERROR)
        elif sys.stderr.isatty():
            self._open()

    def enter(self, name: str) -> None:
        """End the current stage and start this one; nothing happens if it is the current one."""
        if name == self._current:
            return
        self._leave()
        release_memory()  # what the last stage needed and has left
        self._current, self._began, self._detail = name, time.perf_counter(), ""
        self._first = None
        self._last_line = self._began
        if self._bar is not None:
            self._task = self._bar.add_task(name, total=None, detail="", bar=False)

    def sweep(self, event: Any) -> None:
        """Show the sweep that just finished."""
        line = event.record
        self.n_sweeps = line.sweep
        # ignore the first sweep: it is the slowest, and may include compilation
        recent = event.trace.records[1:][-_RECENT:]
        each = sum(r.seconds for r in recent) / max(len(recent), 1)
        left = each * (event.n_sweeps - line.sweep)
        found = (
            f"{counted(line.clusters, 'cluster')} · {line.moved:,} moved"
            f" · log-likelihood/word {line.log_likelihood:.3f}"
        )
        self._detail = f"{counted(line.sweep, 'sweep')} · {found}"
        when = f"at most {duration(left)} left · " if recent else ""
        now = f"sweep {line.sweep}/{event.n_sweeps} · {when}{found}"
        if self._bar is not None:
            if left > _LONG and not self._hinted:
                self._hinted = True
                self._bar.console.print(
                    "  Press Ctrl-C to stop now and keep the clusters found so far.", style="dim"
                )
            self._bar.update(
                self._task, completed=line.sweep, total=event.n_sweeps, detail=now, bar=True
            )
        else:
            self._line(now)

    def part(self, stage: str, done: int, total: int, unit: str = "texts") -> None:
        """Show how much of the current stage is done, counted in `unit` if it has no unit of its own."""
        now = time.perf_counter()
        if stage != self._current or not done:
            return
        if self._first is None:  # the first sweep may include compilation
            self._first = (now, done) if stage in _UNITS else (self._began, 0)
        if now - self._began < _SHORT:
            return
        much = f"{done:,} of {total:,} {_UNITS.get(stage, unit)}"
        if stage in _SHARES:
            much = f"{done / total:.0%}"
        elif stage == "words" and unit == "texts":  # of a file that is read in parts
            much = f"{in_units(done)} of {in_units(total)}"
        since, known = self._first
        if done > known:
            left = (now - since) / (done - known) * (total - done)
            much += f" · about {duration(left)} left"
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, detail=much, bar=True)
        else:
            self._line(much)

    def close(self) -> None:
        """End the last stage and remove the progress bar."""
        self._leave()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _line(self, now: str) -> None:
        """A line for a log file, now and then."""
        if self._write and time.perf_counter() - self._last_line > _EVERY:
            self._last_line = time.perf_counter()
            sys.stderr.write(f"{self._current}: {now}\n")

    def _leave(self) -> None:
        if self._current is None:
            return
        took = time.perf_counter() - self._began
        self.seconds[self._current] = self.seconds.get(self._current, 0.0) + took
        detail = f"{duration(took):>8}" + (f"  {self._detail}" if self._detail else "")
        if self._bar is not None:
            self._bar.update(self._task, total=1, completed=1, detail=detail, bar=False)
        elif self._write:
            sys.stderr.write(f"{self._current:<11} {detail}\n")
        self._current = None

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        from rich.table import Column
        from rich.text import Text

        class Bar(BarColumn):
            def render(self, task: Any) -> Any:
                return super().render(task) if task.fields["bar"] else Text("")

        self._bar = Progress(
            SpinnerColumn(finished_text="[green]✓[/]"),
            TextColumn("{task.description}", table_column=Column(min_width=11)),
            Bar(bar_width=16),
            TextColumn("{task.fields[detail]}", style="dim", table_column=Column(no_wrap=True)),
            console=Console(stderr=True, highlight=False),
            redirect_stdout=False,
        )
        self._bar.start()
