"""Steps between sweeps: a plan may learn a value of the urn, or change the assignment, as it runs.

The loop in `sampler.py` calls every step of its plan after each sweep. A step that has something to
change returns a `Change`. Values that it learned are kept in the run, apart from those that were asked
for; a checkpoint holds them, and `restore` puts them back into the urn of a resumed run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from coterie.counts import Counts
from coterie.state import Assignment
from coterie.urns import Urn

Learned = Mapping[str, float]


class Moment(NamedTuple):
    """A run between two sweeps."""

    counts: Counts
    urn: Urn  # with what was learned so far
    assignment: Assignment
    key: int
    sweep: int  # the one that was just done
    n_sweeps: int


class Change(NamedTuple):
    """What a step wants changed; None leaves things as they are."""

    urn: Urn | None = None
    assignment: Assignment | None = None
    learned: Learned = {}


class Step(Protocol):
    """Something to do between sweeps. It must follow from its arguments alone, so that runs repeat."""

    name: str  # with its settings: a checkpoint of other steps is refused
    learns: bool  # values of the urn, which a sample of the documents can teach, too

    def __call__(self, moment: Moment) -> Change | None:
        """What to change after this sweep, if anything."""

    def restore(self, urn: Urn, learned: Learned) -> Urn:
        """The urn with the values that this step learned in an earlier sitting."""
