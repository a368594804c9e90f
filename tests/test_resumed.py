"""A run fitted again from its checkpoint: one that had stopped stays as it was, any other goes on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coterie import GSDMM, XDMM, checkpoint, urns
from coterie.counts import from_matrix
from coterie.demo import make_corpus
from coterie.errors import InvalidInput


@pytest.fixture(scope="module")
def docs() -> list[list[str]]:
    return make_corpus(150)[0]


def stop_at_four(event: Any) -> bool:
    return bool(event.record.sweep >= 4)


STOPS: dict[str, dict[str, Any]] = {
    "tol": {"tol": 1e-2},
    "a callback": {"callbacks": [stop_at_four]},
    "time": {"max_time": 1e-9},
}


@pytest.mark.parametrize("why", STOPS)
def test_a_run_that_stopped_stays_stopped(why: str, docs: list[list[str]], tmp_path: Path) -> None:
    how = {"n_sweeps": 200, "random_state": 0, "checkpoint": tmp_path / "run.ckpt", **STOPS[why]}
    first = GSDMM(30, **how).fit(docs)
    assert 0 < len(first.trace_) < 200
    for _ in range(3):
        again = GSDMM(30, **how).fit(docs)
        assert again.trace_ == first.trace_
        assert again.stop_reason_ == first.stop_reason_
        np.testing.assert_array_equal(again.labels_, first.labels_)


@pytest.mark.parametrize("why", STOPS)
def test_and_goes_on_when_the_reason_is_gone(
    why: str, docs: list[list[str]], tmp_path: Path
) -> None:
    how = {"random_state": 0, "checkpoint": tmp_path / "run.ckpt"}
    stopped = GSDMM(30, n_sweeps=200, **how, **STOPS[why]).fit(docs)
    more = len(stopped.trace_) + 3
    resumed = GSDMM(30, n_sweeps=more, **how).fit(docs)
    straight = GSDMM(30, n_sweeps=more, random_state=0).fit(docs)
    assert len(resumed.trace_) == more
    np.testing.assert_array_equal(resumed.labels_, straight.labels_)


def test_a_time_budget_counts_every_sitting(docs: list[list[str]], tmp_path: Path) -> None:
    """Like n_sweeps, it is a total: raise it to go on."""
    how = {"random_state": 0, "checkpoint": tmp_path / "run.ckpt", "n_sweeps": 5}
    assert len(GSDMM(30, max_time=1e-9, **how).fit(docs).trace_) == 1
    assert len(GSDMM(30, max_time=1e-9, **how).fit(docs).trace_) == 1
    assert len(GSDMM(30, max_time=1e9, **how).fit(docs).trace_) == 5


class TestFingerprint:
    def test_settings_are_not_run_together(self, docs: list[list[str]], tmp_path: Path) -> None:
        path = tmp_path / "run.ckpt"
        how = {"n_sweeps": 2, "random_state": 0, "checkpoint": path}
        XDMM(10, steps=1, refresh=12, **how).fit(docs)
        with pytest.raises(InvalidInput, match="other data, parameters or another seed"):
            XDMM(10, steps=11, refresh=2, **how).fit(docs)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"a": 1, "b": 12}, {"a": 11, "b": 2}),
            ({"a": "1", "b": 2}, {"a": 1, "b": 2}),
            ({"a": 1, "b": 2}, {"a": 1, "c": 2}),
            ({"a": "x\ny"}, {"a": "x", "y": ""}),
            ({"a": np.arange(4)}, {"a": np.arange(4).reshape(2, 2)}),
            ({"a": np.arange(4)}, {"a": np.arange(4.0)}),
            ({"a": np.zeros(0)}, {"a": np.zeros((0, 3))}),
            ({"a": None}, {"a": "None"}),
            ({"a": True}, {"a": 1}),
        ],
    )
    def test_no_two_lists_of_parts_read_the_same(
        self, one: dict[str, Any], other: dict[str, Any]
    ) -> None:
        counts = from_matrix(np.eye(3, dtype=int), "test").counts
        urn = urns.finite(3, 0.1, np.ones(3))
        marks = [checkpoint.fingerprint(counts, urn, settings) for settings in (one, other)]
        assert marks[0] != marks[1]
        assert marks == [checkpoint.fingerprint(counts, urn, s) for s in (one, other)]
