"""cluster_large() of a Dask DataFrame: texts and labels stay on the workers, and the model is exact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import normalized_mutual_info_score
from test_dask import groups_of, kill_all, kills
from tiny import random_corpus, random_labels

import coterie
from coterie import sampler, urns
from coterie.backends import SamplerOptions
from coterie.clustering import ADDED, Clustering
from coterie.counts import Corpus
from coterie.demo.synthetic import make_corpus
from coterie.distributed import calls, chain, remote
from coterie.distributed.chain import ShardedChain
from coterie.distributed.layout import cut
from coterie.distributed.local import Here
from coterie.distributed.remote import RemoteBackend, RemoteDocuments
from coterie.errors import ConnectionLost, InvalidInput
from coterie.model import Model
from coterie.state import assigned
from coterie.text.frequencies import Frequencies

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")

N = 1500
DOCUMENTS, TOPICS = make_corpus(N, seed=5)
TEXTS = [" ".join(words) for words in DOCUMENTS]
TEXTS[7] = ""
FAST: dict[str, Any] = dict(embedder=None, levels=False, max_clusters=20, n_sweeps=8)


def frame(n: int) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    columns = {"text": TEXTS[:n], "topic": TOPICS[:n]}
    index = [f"row {i:04d}" for i in range(n)]
    return dd.from_pandas(pd.DataFrame(columns, index=index), npartitions=3)


@pytest.fixture(scope="module")
def found(dask_client: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Clustering, Any]:
    import dask.dataframe as dd
    import pandas as pd

    frame = pd.DataFrame({"id": range(N), "text": TEXTS, "topic": TOPICS})
    out = tmp_path_factory.mktemp("dask") / "out"
    given = dd.from_pandas(frame, npartitions=4)
    groups = coterie.cluster_large(given, out, text="text", id="id", sample=600)
    return groups, pl.read_parquet(str(out / "*.parquet"))


def test_every_row_is_there_in_order(found: tuple[Clustering, Any], dask_client: Any) -> None:
    groups, table = found
    assert table.columns == ["id", "text", "topic", *ADDED]
    assert table["id"].to_list() == list(range(N))
    assert table["cluster"][7] == -1
    assert normalized_mutual_info_score(TOPICS, table["cluster"].to_numpy()) > 0.9
    assert groups.n_texts == N - 1
    assert len(groups.rows) == 600
    ids = np.array(groups.rows.ids, int)
    np.testing.assert_array_equal(groups.labels, table["cluster"].to_numpy()[ids])


def test_the_dashboard_shows_a_group_per_step(
    found: tuple[Clustering, Any], dask_client: Any
) -> None:
    steps = "hold", "split", "draw", "encode", "best", "sweep", "table", "join", "of_rows", "write"
    assert groups_of(dask_client) >= {f"coterie_{step}" for step in steps}


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
    assert coterie.load(tmp_path / "model").n_texts == N - 1


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
def test_sweeps_give_the_labels_of_one_machine(dask_client: Any, urn: urns.Urn) -> None:
    options = SamplerOptions("blocked", shards=3)
    there = documents(dask_client)
    backend = RemoteBackend(there, 14)
    plan = sampler.Plan(4, np.zeros(2, np.int64), 7, options)
    run = sampler.run(there.outline(), urn, plan, backend)
    begun = dask_client.gather(documents(dask_client).labels)
    begun = np.unique(np.concatenate([p.content for p in begun]), return_inverse=True)[1]
    start = begun.astype(np.int32)
    here = ShardedChain(COUNTS, urn, assigned(COUNTS, urn, start), options, Here(COUNTS, options))
    here.bounds = BOUNDS
    here.engine.parts = [cut(COUNTS, *bound) for bound in BOUNDS]
    for sweep in range(1, 5):
        here.sweep(7, sweep)
    labels = np.concatenate([parcel.content for parcel in dask_client.gather(there.labels)])
    np.testing.assert_array_equal(labels, here.labels)
    np.testing.assert_array_equal(run.assignment.size, here.clusters.size)
    assert run.trace["log_joint"][-1] == pytest.approx(
        sampler.record(COUNTS, urn, here.assignment(), here.joint_terms(), 4, 0, 0.0).log_joint
    )


FINITE = urns.finite(30, 0.4, BETA)


def checkpointed(client: Any, path: Path, n_sweeps: int, **more: Any) -> list[Any]:
    """The labels of each shard after some sweeps, which are saved."""
    there = documents(client)
    plan = sampler.Plan(n_sweeps, "one", 7, SamplerOptions("blocked"), checkpoint=path, **more)
    there.sweep(FINITE, plan, 14)
    return [parcel.content for parcel in client.gather(there.labels)]


def test_a_checkpoint_goes_on_with_other_workers(dask_client: Any, tmp_path: Path) -> None:
    whole = checkpointed(dask_client, tmp_path / "whole", 4)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        half = checkpointed(other, tmp_path / "part", 2)
    assert any((one != both).any() for one, both in zip(half, whole, strict=True))
    seen: list[int] = []
    note = [lambda event: seen.append(event.record.sweep)]
    rest = checkpointed(dask_client, tmp_path / "part", 4, callbacks=note)
    assert seen == [2, 3, 4]  # what was done is told once more
    np.testing.assert_array_equal(np.concatenate(rest), np.concatenate(whole))
    done = checkpointed(dask_client, tmp_path / "part", 4)
    np.testing.assert_array_equal(np.concatenate(done), np.concatenate(whole))


def test_a_checkpoint_of_other_documents_is_refused(
    dask_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others of the same size, and labels that cannot be those of these shards."""
    path = tmp_path / "run"
    checkpointed(dask_client, path, 1)
    there = documents(dask_client)
    known = there.all_labels()
    bad = known["0"].copy()
    bad[0] = 14
    for other in (
        {**known, "0": known["0"][1:]},
        {**known, "0": known["0"].astype(np.int64)},
        {**known, "0": bad},
        {**known, "3": known["0"]},
        {"0": known["0"], "1": known["1"]},
    ):
        assert not there.take_labels(other, 14)
    assert there.take_labels(known, 14)
    swapped = COUNTS._replace(word=(V - 1 - COUNTS.word).astype(np.int32))
    monkeypatch.setattr(sys.modules[__name__], "COUNTS", swapped)
    with pytest.raises(InvalidInput, match="belongs to other data"):
        checkpointed(dask_client, path, 2)


def test_labels_do_not_travel(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a sweep brings to the client does not grow with the texts that stay where they are."""
    there = documents(dask_client)
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

    monkeypatch.setattr(calls, "finished", lost)
    with pytest.raises(ConnectionLost, match="connection to the Dask scheduler was lost"):
        remote.gathered(Gone(), [])


@kills
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_same_table_on_any_number_of_workers(dask_client: Any, n_workers: int) -> None:
    how: dict[str, Any] = dict(text="text", sweeps=3, **FAST)
    expected = coterie.cluster_large(frame(400), **how).table.compute()
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        table = coterie.cluster_large(frame(400), **how).table.compute()
    assert table.equals(expected)


@kills
def test_a_killed_worker_changes_nothing(dask_client: Any) -> None:
    """What it held, labels of earlier sweeps included, is computed again."""
    urn, plan = urns.process(1.5, BETA), sampler.Plan(4, np.zeros(2, np.int64), 7)
    expected = documents(dask_client)
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
    labels = [parcel.content for parcel in dask_client.gather(expected.labels)]
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(labels))


@kills
@pytest.mark.parametrize("n_workers", [1, 2])
def test_all_workers_are_killed_at_once(dask_client: Any, tmp_path: Path, n_workers: int) -> None:
    """While texts are encoded, after a sweep, and before the table is made."""
    how: dict[str, Any] = dict(text="text", sweeps=3, **FAST)
    expected = coterie.cluster_large(frame(400), **how).table.compute()
    killed = []
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as own,
    ):
        stages = []

        def kill(event: sampler.Event) -> None:
            if stages[-1] == "sampling" and event.record.sweep == 2:
                killed.extend(kill_all(own))

        def stage(name: str) -> None:
            stages.append(name)
            if name == "encoding":
                killed.extend(kill_all(own))

        groups = coterie.cluster_large(frame(400), callbacks=[kill], on_stage=stage, **how)
        assert len(killed) == 2 * n_workers
        killed.extend(kill_all(own))
        table = groups.table.compute()
    assert table.equals(expected)


@kills
def test_a_killed_scheduler_is_said(dask_client: Any, tmp_path: Path) -> None:
    """A scheduler and a worker of their own; the scheduler is killed between two sweeps.

    Other workers go on from the checkpoint.
    """
    address = tmp_path / "scheduler.json"
    where = ["--scheduler-file", str(address)]
    scheduler = _started("scheduler", *where, "--port", "0", "--no-dashboard")
    worker = _started("worker", *where, "--nthreads", "1", "--no-dashboard")

    def kill(event: sampler.Event) -> None:
        if event.record.sweep == 3:
            scheduler.kill()

    try:
        with distributed.Client(scheduler_file=str(address), timeout=60) as own:
            own.wait_for_workers(1)
            with pytest.raises(ConnectionLost, match="scheduler was lost"):
                checkpointed(own, tmp_path / "run", 9, callbacks=[kill])
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    expected = checkpointed(dask_client, tmp_path / "other", 9)
    seen: list[int] = []
    note = [lambda event: seen.append(event.record.sweep)]
    rest = checkpointed(dask_client, tmp_path / "run", 9, callbacks=note)
    assert seen[0] in (2, 3)  # the sweep that was saved last
    np.testing.assert_array_equal(np.concatenate(rest), np.concatenate(expected))


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


@pytest.mark.parametrize("most", [3, 20, 60])
def test_merged_frequencies_forget_rare_words(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """As many words as may be counted, at most, and no count is too low or too high by what was missed."""
    from coterie.text import frequencies

    rng = np.random.default_rng(2)
    true: dict[str, int] = {}
    parts = []
    for _ in range(8):
        one = Frequencies()
        for _ in range(3):
            words = sorted({str(int(w)) for w in rng.zipf(1.5, 60)})
            n_in = rng.integers(1, 9, len(words))
            one.add(words, n_in, 9)
            for word, n in zip(words, n_in.tolist(), strict=True):
                true[word] = true.get(word, 0) + n
        parts.append(one)
    assert len(true) > 2 * most
    monkeypatch.setattr(frequencies, "MOST_COUNTED", most)
    merged = chain.tree(parts, lambda one, other: one.merged(other))
    assert len(merged.df) <= most
    assert merged.missed > 0
    assert merged.n_texts == 8 * 3 * 9
    assert merged.n_distinct >= len(true)
    for word, n in true.items():
        assert n <= merged.df.get(word, merged.missed) <= n + merged.missed
