"""Ctrl-C while a result is written: a first one lets the writing finish, a second one stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from coterie._system import noted_interrupts
from coterie.cli.exits import ELSEWHERE, INTERRUPTED, End
from coterie.cli.places import Place
from coterie.cli.streams import tell_from_a_signal

FINISHING = "\nInterrupted: finishing what was found; press Ctrl-C again to stop.\n"


@contextmanager
def finishing(outputs: Sequence[Place], found: Callable[[], bool]) -> Iterator[None]:
    """From when something is `found`, see it written; ends the command if it did not go as asked."""
    with noted_interrupts(lambda: tell_from_a_signal(FINISHING), found) as interrupted:
        try:
            yield
        except KeyboardInterrupt:
            raise End(INTERRUPTED, _stopped(outputs, found())) from None
    moved = [place.moved for place in outputs if place.moved]
    if interrupted():
        written = ", ".join(place.written for place in outputs if place.written)
        where = f" to {written}" if written else ""
        said = f"Interrupted, but everything that was found was written{where} first."
        raise End(INTERRUPTED, " ".join([said, *moved]))
    if moved:
        raise End(ELSEWHERE, " ".join(moved))


def _stopped(outputs: Sequence[Place], found: bool) -> str:
    if not found:
        return "Interrupted before anything was found; nothing was written."
    written = [place.written for place in outputs if place.written]
    missing = [str(place.target) for place in outputs if not place.written]
    if not written:
        return "Interrupted while writing; nothing was written."
    rest = f", but not to {', '.join(missing)}" if missing else ""
    return f"Interrupted; by then the result was written to {', '.join(written)}{rest}."
