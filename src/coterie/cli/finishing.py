"""Ctrl-C while results are written: the first lets the writing finish, the second stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from coterie._system import noted_interrupts
from coterie.cli.exits import ELSEWHERE, INTERRUPTED, End
from coterie.cli.places import Place
from coterie.cli.streams import tell_from_a_signal

FINISHING = "\nInterrupted. Writing the results; press Ctrl-C again to stop.\n"


@contextmanager
def finishing(outputs: Sequence[Place], found: Callable[[], bool]) -> Iterator[None]:
    """Once something was `found`, let it be written; end the command if that was interrupted."""
    with noted_interrupts(lambda: tell_from_a_signal(FINISHING), found) as interrupted:
        try:
            yield
        except KeyboardInterrupt:
            raise End(INTERRUPTED, _stopped(outputs, found())) from None
    moved = [place.moved for place in outputs if place.moved]
    if interrupted():
        written = ", ".join(place.written for place in outputs if place.written)
        where = f" to {written}" if written else ""
        said = f"Interrupted, but all results were written{where} first."
        raise End(INTERRUPTED, " ".join([said, *moved]), has_result=True)
    if moved:
        raise End(ELSEWHERE, " ".join(moved), has_result=True)


def _stopped(outputs: Sequence[Place], found: bool) -> str:
    if not found:
        return "Interrupted before any clusters were found. Nothing was written."
    written = [place.written for place in outputs if place.written]
    missing = [str(place.target) for place in outputs if not place.written]
    if not written:
        return "Interrupted while writing. Nothing was written."
    rest = f", but not to {', '.join(missing)}" if missing else ""
    return f"Interrupted. The result was already written to {', '.join(written)}{rest}."
