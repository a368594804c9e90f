"""cluster_large() of a Dask DataFrame: texts and labels stay on the workers, and the model is exact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import normalized_mutual_info_score
from tiny import random_corpus, random_labels

import coterie
from coterie import sampler, urns
from coterie.backends import SamplerOptions
from coterie.clustering import ADDED, Clustering
from coterie.counts import Corpus
from coterie.demo.synthetic import make_corpus
from coterie.distributed import dask_backend, remote
from coterie.distributed.chain import ShardedChain
from coterie.distributed.layout import cut
from coterie.distributed.local import Here
from coterie.distributed.remote import RemoteBackend, RemoteDocuments
from coterie.errors import ConnectionLost, InvalidInput, ModelFileError
from coterie.model import Model
from coterie.state import assigned
from coterie.text.frequencies import Frequencies

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")

kills = pytest.mark.skipif("COTERIE_TEST_DASK" not in os.environ, reason="run by `make test-dask`")
N = 1500
DOCUMENTS, TOPICS = make_corpus(N, seed=5)
TEXTS = [" ".join(words) for words in DOCUMENTS]
TEXTS[7] = ""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in this process."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def found(client: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clustering, Any]:
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame({"id": range(N), "text": TEXTS, "topic": TOPICS})
    out = tmp_path_factory.mktemp("dask") / "out"
    given = dd.from_pandas(frame, npartitions=4)
    groups = coterie.cluster_large(given, out, text="text", id="id", sample=600)
    return groups, pl.read_parquet(str(out / "*.parquet"))


def test_every_row_is_there_in_order(found: tuple[Clustering, Any], client: Any) -> None:
    groups, table = found
    assert table.columns == ["id", "text", "topic", *ADDED]
    assert table["id"].to_list() == list(range(N))
    assert table["cluster"][7] == -1
    assert normalized_mutual_info_score(TOPICS, table["cluster"].to_numpy()) > 0.9
    assert groups.n_texts == N - 1
    assert 450 < len(groups.rows) < 750
    ids = np.array(groups.rows.ids, int)
    np.testing.assert_array_equal(groups.labels, table["cluster"].to_numpy()[ids])


def test_the_model_is_counted_from_all_texts(found: tuple[Clustering, Any], tmp_path: Path) -> None:
    groups, table = found
    labels = table["cluster"].to_numpy()
    has = labels >= 0
    counts, urn = groups.encode(TEXTS).counts, groups.model.urn
    again, _ = Model.freeze(urn, counts, assigned(counts, urn, labels[has].astype(np.int32)), None)
    for name in ("size", "total", "ptr", "cluster", "held", "sums"):
        mine, theirs = getattr(groups.model.frozen, name), getattr(again.frozen, name)
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
    assert (groups.predict(TEXTS) == labels).mean() >= 0.999
    groups.save(tmp_path / "model")
    assert coterie.load(tmp_path / "model").n_texts == N - 1  # type: ignore[union-attr]


def test_what_must_not_be_replaced(client: Any, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    given = dd.from_pandas(pd.DataFrame({"text": TEXTS[:50]}), npartitions=2)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(ModelFileError, match="holds other files"):
        coterie.cluster_large(given, tmp_path / "out")
    with pytest.raises(InvalidInput, match="no column 'nothing'"):
        coterie.cluster_large(given, tmp_path / "new", text="nothing")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


# ---------------------------------------------------------------- sweeps
V = 50
BETA = urns.per_word(0.3, V)
COUNTS = random_corpus(800, V, 9, seed=2, heaviest=2, topics=6)
BOUNDS = [(0, 300), (300, 301), (301, 800)]


def documents(client: Any) -> RemoteDocuments:
    """Three shards of a corpus, with random labels of which some are empty."""
    parts = []
    for first, end in BOUNDS:
        part = cut(COUNTS, first, end)
        own = Corpus(part, np.arange(part.n_docs))
        parts.append(client.submit(remote.Parcel, (own,), pure=False))
    made = RemoteDocuments(client, parts, V, 0)
    labels = random_labels(800, 14, 8)
    labels[labels == 5] = 6
    given = [client.submit(remote.Parcel, labels[a:b], pure=False) for a, b in BOUNDS]
    made.labels = given
    return made


@pytest.mark.parametrize("urn", [urns.finite(30, 0.4, BETA), urns.process(1.5, BETA)])
def test_sweeps_give_the_labels_of_one_machine(client: Any, urn: urns.Urn) -> None:
    options = SamplerOptions("blocked", shards=3)
    there = documents(client)
    backend = RemoteBackend(there, 14)
    plan = sampler.Plan(4, np.zeros(2, np.int64), 7, options)
    run = sampler.run(there.outline(), urn, plan, backend)
    start = np.unique(np.concatenate([p.content for p in client.gather(documents(client).labels)]),
                      return_inverse=True)[1].astype(np.int32)  # fmt: skip
    here = ShardedChain(COUNTS, urn, assigned(COUNTS, urn, start), options, Here(COUNTS, options))
    here.bounds = BOUNDS
    here.engine.parts = [cut(COUNTS, *bound) for bound in BOUNDS]  # type: ignore[attr-defined]
    for sweep in range(1, 5):
        here.sweep(7, sweep)
    labels = np.concatenate([parcel.content for parcel in client.gather(there.labels)])
    np.testing.assert_array_equal(labels, here.labels)
    np.testing.assert_array_equal(run.assignment.size, here.clusters.size)
    assert run.trace["log_joint"][-1] == pytest.approx(
        sampler.record(COUNTS, urn, here.assignment(), here.joint_terms(), 4, 0, 0.0).log_joint
    )


def test_labels_do_not_travel(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a sweep brings to the client does not grow with the texts that stay where they are."""
    there = documents(client)
    sizes = []
    gathered = remote.gathered

    def weighed(*arguments: Any) -> Any:
        found = gathered(*arguments)
        sizes.append(sum(map(_bytes, found)))
        return found

    monkeypatch.setattr(remote, "gathered", weighed)
    plan = sampler.Plan(30, np.zeros(2, np.int64), 7, SamplerOptions("blocked"))
    run = sampler.run(there.outline(), urns.finite(30, 0.4, BETA), plan, RemoteBackend(there, 14))
    moved = int(run.trace["moved"][-1])
    mean = COUNTS.word.size / COUNTS.n_docs
    # a moved document leaves a cluster and enters another: a number of 8 and an id of 4 bytes per word
    # and cluster, less where several documents meet; clusters have sizes and pointers
    most = 2 * moved * mean * (8 + 4 + 4) + 64 * run.assignment.id.size + 4000
    assert sum(sizes[-2:]) < most
    assert moved < COUNTS.n_docs / 2


def _bytes(found: Any) -> int:
    import pickle

    return len(pickle.dumps(found))


def test_a_lost_scheduler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        scheduler = SimpleNamespace(identity=None)

        def sync(self, *_: Any, **__: Any) -> None:
            raise OSError("closed")

    def lost(*_: Any) -> bool:
        raise CancelledError

    monkeypatch.setattr(dask_backend, "_finished", lost)
    with pytest.raises(ConnectionLost, match="connection to the Dask scheduler was lost"):
        remote.gathered(Gone(), [])


@kills
def test_a_killed_worker_changes_nothing(client: Any) -> None:
    """What it held, labels of earlier sweeps included, is computed again."""
    urn, plan = urns.process(1.5, BETA), sampler.Plan(4, np.zeros(2, np.int64), 7)
    expected = documents(client)
    sampler.run(expected.outline(), urn, plan, RemoteBackend(expected, 14))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as own,
    ):
        there = documents(own)

        def kill(event: sampler.Event) -> None:
            if event.record.sweep == 2:
                pids = sorted(own.run(os.getpid, on_error="ignore").values())
                os.kill(pids[0], signal.SIGKILL)

        backend = RemoteBackend(there, 14)
        sampler.run(there.outline(), urn, plan._replace(callbacks=[kill]), backend)
        found = [parcel.content for parcel in own.gather(there.labels)]
    labels = [parcel.content for parcel in client.gather(expected.labels)]
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(labels))


@kills
def test_a_killed_scheduler_is_said(tmp_path: Path) -> None:
    """A scheduler and a worker of their own; the scheduler is killed between two sweeps."""
    address = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(address)]
    scheduler = _started("scheduler", *where, "--port", "0", "--no-dashboard")
    worker = _started("worker", *where, "--nthreads", "1", "--no-dashboard")
    try:
        with distributed.Client(scheduler_file=str(address), timeout=60) as own:
            own.wait_for_workers(1)
            there = documents(own)

            def kill(event: sampler.Event) -> None:
                scheduler.kill()

            plan = sampler.Plan(9, np.zeros(2, np.int64), 7, SamplerOptions("blocked"))
            plan = plan._replace(callbacks=[kill])
            outline, backend = there.outline(), RemoteBackend(there, 14)
            with pytest.raises(ConnectionLost, match="scheduler was lost"):
                sampler.run(outline, urns.finite(30, 0.4, BETA), plan, backend)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


def _started(what: str, *arguments: str) -> Any:
    command = [sys.executable, "-m", "distributed.cli.dask_" + what, *arguments]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def test_frequencies_are_merged_as_one_count() -> None:
    parts = []
    rng = np.random.default_rng(1)
    whole = Frequencies()
    for _ in range(5):
        words = sorted({str(int(w)) for w in rng.zipf(1.5, 60)})
        one = Frequencies()
        for seen in (one, whole):
            seen.add(words, np.ones(len(words), np.int64), 1)
        parts.append(one)
    merged = parts[0].merged(parts[1]).merged(parts[2].merged(parts[3])).merged(parts[4])
    assert merged.df == whole.df
    assert (merged.n_texts, merged.n_distinct) == (whole.n_texts, whole.n_distinct)
