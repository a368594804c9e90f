"""What every way of sampling derives from a state, and what it says before it begins."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from tiny import from_bags

from coterie import urns
from coterie.backends import SamplerOptions, _gibbs
from coterie.backends.cpu import BACKEND, announce_compilation
from coterie.start import first_assignment


def test_base_terms_are_kept_for_the_frequent_lengths_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With many clusters not all lengths fit; to drop all would make every outlier a sum over all."""
    counts = from_bags([[0, 1]] * 2 + [[1, 2, 3]] * 5 + [[2, 3, 4, 5]] * 3, 6)
    urn = urns.process(1.0, urns.per_word(0.1, 6))
    state = first_assignment(counts, urn, "one", 1, BACKEND)
    monkeypatch.setattr(_gibbs, "BASE_BYTES", 2 * 8 * state.size.size)
    derived = BACKEND.open(counts, urn, state, SamplerOptions()).derived
    assert np.flatnonzero(derived.base_row >= 0).tolist() == [3, 4]
    assert derived.base.shape[0] == 2


@pytest.mark.parametrize("sampler", ["gibbs", "blocked", "metropolis"])
def test_compiling_is_announced_for_the_sampler_that_compiles(
    sampler: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = importlib.import_module(f"coterie.kernels.{sampler}")
    monkeypatch.setattr(room, "sweep", SimpleNamespace(signatures=[]))
    announce_compilation(sampler)
    assert "compiles its kernels" in caplog.text
