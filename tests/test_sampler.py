"""The loop: when it stops and why, what it tells on the way, and what Ctrl-C leaves behind."""

import itertools
import math
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

from coterie import GSDMM, GSDPMM, Progress
from coterie.backends import _gibbs
from coterie.demo import make_corpus
from coterie.sampler import Event, judge
from coterie.trace import SweepRecord, Trace


@pytest.fixture(scope="module")
def docs() -> list[list[str]]:
    return make_corpus(400)[0]


@pytest.fixture
def handler() -> Any:
    """The SIGINT handler there was; the test must leave it in place."""
    before = signal.getsignal(signal.SIGINT)
    yield before
    after = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)
    assert after is before, "the fit did not put the old handler back"


class Recorder:
    """A callback that keeps what it was told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.labels: list[np.ndarray] = []
        self.ids: list[np.ndarray] = []  # of each document's cluster

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        now = event.assignment
        self.labels.append(now.labels.copy())
        self.ids.append(now.id[now.labels])


class TestStopping:
    def test_all_sweeps_are_done_by_default(self, docs: list[list[str]]) -> None:
        model = GSDMM(30, n_sweeps=17, random_state=0).fit(docs)
        assert len(model.trace_) == 17
        assert "all 17 sweeps done" in model.stop_reason_

    @pytest.mark.parametrize("make", [lambda **k: GSDMM(30, **k), GSDPMM], ids=["GSDMM", "GSDPMM"])
    def test_tol_stops_early(self, make: Any, docs: list[list[str]]) -> None:
        model = make(n_sweeps=500, tol=1e-3, random_state=0).fit(docs)
        assert 10 <= len(model.trace_) < 500
        assert model.converged_ is True
        assert f"stopped early after sweep {len(model.trace_)}" in model.stop_reason_
        assert "converged" in model.stop_reason_
        assert "likelihood per word" in model.stop_reason_

    def test_a_stricter_tol_takes_longer(self, docs: list[list[str]]) -> None:
        lengths = [
            len(GSDMM(30, n_sweeps=300, tol=tol, random_state=0).fit(docs).trace_)
            for tol in (0.1, 1e-3, 1e-5)
        ]
        assert lengths == sorted(lengths)

    def test_few_sweeps_are_not_called_settled(self, docs: list[list[str]]) -> None:
        model = GSDMM(30, n_sweeps=3, tol=10.0, random_state=0).fit(docs)
        assert model.converged_ is False
        assert "too few sweeps (3)" in model.stop_reason_

    def test_converged_without_tol(self, docs: list[list[str]]) -> None:
        assert GSDMM(30, n_sweeps=100, random_state=0).fit(docs).converged_ is True

    def test_a_rising_likelihood_is_not_settled(self) -> None:
        def line(sweep: int, likelihood: float, moved: int) -> SweepRecord:
            return SweepRecord(sweep, 5, 4, 3, moved, -9.0, likelihood, 0.1)

        rising = Trace([line(i, -5 + 0.1 * i, 30) for i in range(20)])
        slowing = Trace([line(i, -5.0, 2 ** (10 - i)) for i in range(10)])
        still = Trace([line(i, -5.0, 30) for i in range(20)])
        assert [judge(t, 100, 1e-3)[0] for t in (rising, slowing, still)] == [False, False, True]

    def test_max_time(self, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
        clock = itertools.count(100.0, 0.25)  # a quarter of a second passes whenever it is asked
        monkeypatch.setattr("coterie.sampler.time.perf_counter", lambda: next(clock))
        model = GSDMM(30, n_sweeps=10**6, max_time=7, random_state=0).fit(docs)
        assert 1 < len(model.trace_) <= 28
        assert f"time limit of 7 s reached after sweep {len(model.trace_)}" in model.stop_reason_
        assert model.predict(docs).shape == (400,)

    def test_a_tiny_time_budget_still_does_a_sweep(self, docs: list[list[str]]) -> None:
        assert len(GSDMM(30, max_time=1e-9, random_state=0).fit(docs).trace_) == 1


class TestCallbacks:
    def test_every_sweep_is_told(self, docs: list[list[str]]) -> None:
        seen = Recorder()
        model = GSDMM(30, n_sweeps=6, random_state=0, callbacks=[seen]).fit(docs)
        assert [event.record.sweep for event in seen.events] == [1, 2, 3, 4, 5, 6]
        assert [event.record for event in seen.events] == list(model.trace_)
        assert [event.last for event in seen.events] == [False] * 5 + [True]
        assert {event.n_sweeps for event in seen.events} == {6}
        assert seen.events[-1].trace == model.trace_
        assert all(labels.shape == (400,) for labels in seen.labels)

    def test_true_stops(self, docs: list[list[str]]) -> None:
        model = GSDMM(30, random_state=0, callbacks=[lambda event: event.record.sweep >= 4])
        model.fit(docs)
        assert len(model.trace_) == 4
        assert "stopped by a callback after sweep 4" in model.stop_reason_
        np.testing.assert_array_equal(np.bincount(model.labels_), model.cluster_sizes_)

    def test_the_sweeps_before_a_stop_are_those_of_a_full_run(self, docs: list[list[str]]) -> None:
        stopped = GSDMM(30, random_state=0, callbacks=[lambda event: event.record.sweep == 4])
        short = GSDMM(30, random_state=0, n_sweeps=4)
        np.testing.assert_array_equal(stopped.fit(docs).labels_, short.fit(docs).labels_)

    @pytest.mark.parametrize("answer", [None, False, 1, "stop"])
    def test_only_true_stops(self, answer: Any, docs: list[list[str]]) -> None:
        model = GSDMM(30, n_sweeps=3, random_state=0, callbacks=[lambda event: answer])
        assert len(model.fit(docs).trace_) == 3

    def test_all_callbacks_are_told_even_when_one_stops(self, docs: list[list[str]]) -> None:
        seen = Recorder()
        GSDMM(30, random_state=0, callbacks=[lambda event: True, seen]).fit(docs)
        assert len(seen.events) == 1

    def test_exceptions_come_through(self, docs: list[list[str]], handler: Any) -> None:
        def fail(event: Event) -> None:
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            GSDMM(30, random_state=0, callbacks=[fail]).fit(docs)

    def test_callbacks_do_not_change_the_result(self, docs: list[list[str]]) -> None:
        quiet = GSDMM(30, n_sweeps=5, random_state=0).fit(docs)
        told = GSDMM(30, n_sweeps=5, random_state=0, callbacks=[Recorder(), Progress()]).fit(docs)
        np.testing.assert_array_equal(quiet.labels_, told.labels_)


class TestProgress:
    @staticmethod
    def run(docs: Any, *more: Callable[[Event], Any], **how: Any) -> tuple[Any, Progress]:
        progress = Progress()
        how = {"n_sweeps": 5, "random_state": 0, **how}
        return GSDMM(30, callbacks=[progress, *more], **how).fit(docs), progress

    def test_runs_without_a_terminal(self, docs: list[list[str]], capfd: Any) -> None:
        model, _ = self.run(docs)
        out, err = capfd.readouterr()
        assert out == "", "standard output belongs to the program"
        assert "sweep 5/5" in err
        assert f"{model.n_clusters_} clusters" in err

    def test_can_be_used_again(self, docs: list[list[str]], capfd: Any) -> None:
        progress = Progress()
        GSDMM(30, n_sweeps=5, random_state=0, callbacks=[progress]).fit(docs)
        GSDMM(30, n_sweeps=7, random_state=0, callbacks=[progress]).fit(docs)
        assert "sweep 7/7" in capfd.readouterr().err

    @pytest.mark.parametrize("how", ["done", "callback", "error", "interrupted"])
    def test_is_closed_however_the_run_ends(
        self, how: str, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch, handler: Any
    ) -> None:
        monkeypatch.setattr(_gibbs, "CHUNK_WORDS", 100)  # so that Ctrl-C is heard within a sweep
        threads = set(threading.enumerate())

        def end(event: Event) -> bool:
            if how == "error" and event.record.sweep == 2:
                raise ZeroDivisionError
            if how == "interrupted" and event.record.sweep == 2:
                signal.raise_signal(signal.SIGINT)
            return how == "callback" and event.record.sweep == 2

        if how == "error":
            with pytest.raises(ZeroDivisionError):
                self.run(docs, end)
        else:
            self.run(docs, end)
        for thread in set(threading.enumerate()) - threads:
            thread.join(60)
        assert set(threading.enumerate()) <= threads, "the bar's thread is still running"


class TestTrace:
    @pytest.mark.parametrize("tie", [False, True], ids=["free", "tied"])
    @pytest.mark.parametrize(
        "model",
        [
            GSDMM(30, alpha=0.2, beta=0.05, n_sweeps=9, random_state=3),
            GSDPMM(alpha=3.0, beta=0.05, n_sweeps=9, random_state=3),
        ],
        ids=["GSDMM", "GSDPMM"],
    )
    def test_columns_are_what_the_labels_say(
        self, model: Any, tie: bool, docs: list[list[str]]
    ) -> None:
        short = [doc[:4] for doc in docs]
        words = sorted({word for doc in short for word in doc})
        X = np.array([[doc.count(word) for word in words] for doc in short])
        X, weight = np.unique(X, axis=0, return_counts=True) if tie else (X, np.ones(len(X), int))
        seen = Recorder()
        model.set_params(callbacks=[seen]).fit(X, sample_weight=weight)
        for event, labels in zip(seen.events, seen.labels, strict=True):
            line = event.record
            sizes = np.bincount(labels, weight).astype(int)
            sizes = sizes[sizes > 0]
            assert line.clusters == sizes.size
            assert line.clusters_above_1 == (sizes > 1).sum()
            assert line.clusters_above_3 == (sizes > 3).sum()
            assert 0 <= line.moved <= weight.sum()
            assert line.seconds > 0
            joint, per_word = brute_force(model, X, weight, labels)
            assert line.log_joint == pytest.approx(joint, rel=1e-10)
            assert line.log_likelihood == pytest.approx(per_word, rel=1e-10)
        final = model.labels_
        assert final.max() + 1 == model.trace_[-1].clusters

    def test_moved_counts_documents_that_moved(self, docs: list[list[str]]) -> None:
        seen = Recorder()
        GSDMM(30, n_sweeps=20, random_state=0, callbacks=[seen]).fit(docs)
        for event, (before, after) in zip(
            seen.events[1:], itertools.pairwise(seen.ids), strict=True
        ):
            assert event.record.moved == (before != after).sum()

    def test_a_column_by_name(self, docs: list[list[str]]) -> None:
        trace = GSDMM(30, n_sweeps=4, random_state=0).fit(docs).trace_
        assert len(trace) == 4
        assert trace["sweep"].tolist() == [1, 2, 3, 4]
        assert trace[-1].sweep == 4
        assert [line.sweep for line in trace] == [1, 2, 3, 4]

    def test_the_likelihood_rises(self, docs: list[list[str]]) -> None:
        trace = GSDMM(30, n_sweeps=20, random_state=0).fit(docs).trace_
        assert trace[-1].log_likelihood > trace[0].log_likelihood
        assert trace[-1].log_joint > trace[0].log_joint


def brute_force(model: Any, X: Any, weight: Any, labels: Any) -> tuple[float, float]:
    """ln p(words, z), and the mean ln phi of a word, counted anew from the labels."""
    kept = np.unique(labels)
    size = np.array([weight[labels == k].sum() for k in kept])
    words = np.array([(X * weight[:, None])[labels == k].sum(axis=0) for k in kept])
    total, n_docs, n_words = words.sum(axis=1), weight.sum(), X.shape[1]
    alpha, beta = model.alpha, model.beta
    if isinstance(model, GSDMM):
        mass = alpha * model.n_clusters
        partition = (gammaln(size + alpha) - gammaln(alpha)).sum()
    else:
        mass = alpha
        partition = (math.log(alpha) + gammaln(size)).sum()
    partition += gammaln(mass) - gammaln(n_docs + mass)
    of_words = (gammaln(words + beta) - gammaln(beta)).sum()
    of_words -= (gammaln(total + n_words * beta) - gammaln(n_words * beta)).sum()
    phi = (words + beta) / (total + n_words * beta)[:, None]
    return float(partition + of_words), float((words * np.log(phi)).sum() / words.sum())


class TestInterrupt:
    def test_between_sweeps(self, docs: list[list[str]], handler: Any) -> None:
        def interrupt(event: Event) -> None:
            if event.record.sweep == 3:
                signal.raise_signal(signal.SIGINT)

        model = GSDMM(30, random_state=0, callbacks=[interrupt]).fit(docs)
        assert 3 <= len(model.trace_) <= 4
        assert "interrupted" in model.stop_reason_
        self.check_usable(model, docs)

    def test_within_a_sweep(
        self, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, handler: Any
    ) -> None:
        monkeypatch.setattr(_gibbs, "CHUNK_WORDS", 100)

        def interrupt(event: Event) -> None:
            if event.record.sweep == 3:
                signal.raise_signal(signal.SIGINT)

        path = tmp_path / "run.ckpt"
        model = GSDMM(30, random_state=0, callbacks=[interrupt], checkpoint=path).fit(docs)
        assert len(model.trace_) == 3
        assert "interrupted in sweep 4" in model.stop_reason_
        self.check_usable(model, docs)
        resumed = GSDMM(30, random_state=0, checkpoint=path).fit(docs)
        np.testing.assert_array_equal(resumed.labels_, GSDMM(30, random_state=0).fit(docs).labels_)

    def test_the_state_left_within_a_sweep_is_whole(
        self, docs: list[list[str]], monkeypatch: pytest.MonkeyPatch, handler: Any
    ) -> None:
        monkeypatch.setattr(_gibbs, "CHUNK_WORDS", 100)
        stop = [lambda event: signal.raise_signal(signal.SIGINT)]
        model = GSDMM(30, random_state=0, callbacks=stop).fit(docs)
        words = model.model_.words
        for k in range(model.n_clusters_):
            members = [doc for doc, label in zip(docs, model.labels_, strict=True) if label == k]
            held = model.model_.word_cluster[:, [k]].toarray().ravel()
            assert [sum(doc.count(word) for doc in members) for word in words] == held.tolist()

    def test_twice_interrupts_the_hard_way(self, docs: list[list[str]], handler: Any) -> None:
        def insist(event: Event) -> None:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            GSDMM(30, random_state=0, callbacks=[insist]).fit(docs)

    def test_the_handler_is_put_back(self, docs: list[list[str]], handler: Any) -> None:
        GSDMM(30, n_sweeps=2, random_state=0).fit(docs)

    def test_a_handler_of_the_program_is_put_back(self, docs: list[list[str]]) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            ask = [lambda event: signal.raise_signal(signal.SIGINT)]
            model = GSDMM(30, n_sweeps=2, random_state=0, callbacks=ask).fit(docs)
            assert len(model.trace_) == 2, "a program that ignores Ctrl-C is not interrupted by it"
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        finally:
            signal.signal(signal.SIGINT, before)

    def test_another_thread_leaves_signals_alone(self, docs: list[list[str]], handler: Any) -> None:
        seen: list[Any] = []
        watch = [lambda event: seen.append(signal.getsignal(signal.SIGINT))]
        model = GSDMM(30, n_sweeps=2, random_state=0, callbacks=watch)
        thread = threading.Thread(target=model.fit, args=(docs,))
        thread.start()
        thread.join()
        assert seen == [handler, handler]

    @pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a child there")
    def test_ctrl_c_in_another_process_returns_a_usable_model(self) -> None:
        code = (
            "import signal\n"
            "from coterie import GSDMM\n"
            "from coterie.demo import make_corpus\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it\n"
            "docs = make_corpus(500)[0]\n"
            "def tell(event):\n"
            "    if event.record.sweep == 2: print('running', flush=True)\n"
            "model = GSDMM(50, n_sweeps=10**9, random_state=0, callbacks=[tell]).fit(docs)\n"
            "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
            "assert len(model.predict(docs)) == 500\n"
            "print(model.n_clusters_, model.stop_reason_)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            try:
                assert child.stdout.readline() == "running\n"
                child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=120)
            finally:
                child.kill()
        assert child.returncode == 0, err
        assert int(out.split()[0]) > 0
        assert "interrupted" in out

    @staticmethod
    def check_usable(model: Any, docs: Any) -> None:
        np.testing.assert_array_equal(np.bincount(model.labels_), model.cluster_sizes_)
        np.testing.assert_allclose(model.predict_proba(docs).sum(axis=1), 1.0)
        assert len(model.top_words()) == model.n_clusters_
