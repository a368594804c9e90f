"""What a Dask worker takes for partitions of texts, or for shards, and the estimate before a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..harness.claims import Check, Claim
from ..harness.data import zipf
from ..harness.probe import resident_mb
from ..harness.store import Options, Results, Row, Rows, say
from ..harness.tables import markdown

VOCABULARY = 50_000
TOPICS, OWN = 100, 500  # words of a topic
SAMPLE = 5_000
LOW, HIGH = 0.6, 1.15  # how much of the estimate may be needed


class Case(NamedTuple):
    """Partitions of equal size on a worker with a thread for each of them."""

    source: str  # "frame", "files" or "shards" (backend="dask")
    threads: int
    n_texts: int  # of a partition
    n_words: int  # of a text
    vectors: bool

    @property
    def key(self) -> str:
        size = f"{self.n_texts:,} texts of {self.n_words} words"
        what = {"frame": "DataFrame", "files": "parquet files", "shards": 'backend="dask"'}
        extra = f"{', vectors' if self.vectors else ''}, {self.threads} at once"
        return f"{what[self.source]}, {size}{extra}"


CASES = (
    *(
        Case(source, 1, *size, vectors)
        for source in ("frame", "files")
        for size in ((250_000, 10), (1_000_000, 10), (50_000, 300))
        for vectors in (False, True)
    ),
    Case("frame", 2, 500_000, 10, True),
    Case("files", 2, 500_000, 10, True),
    Case("shards", 1, 1_000_000, 10, False),
    Case("shards", 1, 1_000_000, 10, True),
    Case("shards", 2, 500_000, 10, True),
)


def run(options: Options) -> Rows:
    results = Results("engine/worker_memory", options)
    cases = [each._replace(n_texts=5_000) for each in CASES] if options.quick else CASES
    by_key = {each.key: each for each in cases}
    for key in options.choose(tuple(by_key), quick=2):
        results.once(key, lambda k=key: _row(by_key[k]))  # type: ignore[misc]
        say(f"{key}: {results.rows[key]}")
    return results.rows


def _row(case: Case) -> Row:
    from dask import config
    from distributed import Client, LocalCluster

    one = dict(n_workers=1, threads_per_worker=case.threads, processes=True, memory_limit=0)
    with (
        tempfile.TemporaryDirectory() as name,
        config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(**one, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        _estimates() as estimates,
    ):
        _write(Path(name), case)
        _clustered(Path(name), case, client)
        [peak] = client.run(_peak).values()
    return {**case._asdict(), "peak_mb": peak, "estimate_mb": max(estimates) / 1e6}


def _write(folder: Path, case: Case) -> None:
    """Texts of planted topics: a parquet file, with one row group, per partition."""
    import polars as pl

    rng = np.random.default_rng(2026)
    names = np.array([f"w{i:x}" for i in rng.permutation(VOCABULARY) + 16**4])
    own = rng.integers(VOCABULARY, size=(TOPICS, OWN))
    for i in range(case.threads):
        shape = (case.n_texts, case.n_words)
        topic = rng.integers(TOPICS, size=case.n_texts)
        ids = np.where(
            rng.random(shape) < 0.6,
            own[topic[:, None], zipf(rng, OWN, shape)],
            zipf(rng, VOCABULARY, shape),
        )
        texts = [" ".join(row) for row in names[ids].tolist()]
        frame = pl.DataFrame({"text": texts})
        frame.write_parquet(folder / f"{i}.parquet", row_group_size=case.n_texts)


def _clustered(folder: Path, case: Case, client: Any) -> None:
    """Everything that workers do, from the texts to the table."""
    from coterie.large.clustering import defaults
    from coterie.large.on_dask import Partitions, fit_dask
    from coterie.large.settings import asked

    pattern = str(folder / "*.parquet")
    how: dict[str, Any] = {"text": "text", "levels": False, "max_clusters": 200}
    how["embedder"] = "auto" if case.vectors else None
    if case.source == "shards":
        import coterie

        coterie.cluster(pattern, backend="dask", n_sweeps=10, **how)
        return
    what = asked({**defaults(), "data": pattern, "sample": SAMPLE, **how})
    if case.source == "files":
        parts = Partitions.of_files(what, client)
    else:
        import dask.dataframe as dd

        parts = Partitions.of_frame(what._replace(data=dd.read_parquet(pattern)))
    fit_dask(what, parts).write(folder / "out")


@contextmanager
def _estimates() -> Iterator[list[float]]:
    """The bytes that workers are said to need, from all checks meanwhile."""
    from coterie.distributed import calls, dask_backend
    from coterie.large import on_dask

    modules: list[Any] = [dask_backend, on_dask]
    found: list[float] = []

    def noted(client: Any, n_bytes: float, n_parts: int, what: str, cure: str) -> None:
        [(_, threads)] = client.run_on_scheduler(calls._limits)
        found.append(calls.needs(n_bytes, threads, n_parts))

    before = [module.check_memory for module in modules]
    for module in modules:
        module.check_memory = noted
    try:
        yield found
    finally:
        for module, check in zip(modules, before, strict=True):
            module.check_memory = check


def _peak() -> float:
    """The largest resident size of this process so far, without mapped files, as far as known."""
    return resident_mb("VmHWM")


def table(rows: Rows) -> str:
    lines = []
    for key, row in rows.items():
        sizes = [f"{row[name]:,.0f}" for name in ("peak_mb", "estimate_mb")]
        lines.append([key, *sizes, f"{row['peak_mb'] / row['estimate_mb']:.2f}"])
    return markdown(["partitions", "peak (MB)", "estimate (MB)", "ratio"], lines)


def claims(rows: Rows) -> list[Claim]:
    checks = []
    for key, row in rows.items():
        ratio = row["peak_mb"] / row["estimate_mb"]
        checks.append(Check(key, f"{ratio:.2f}", LOW <= ratio <= HIGH))
    says = (
        f"A Dask worker takes {LOW:g} to {HIGH:g} times the memory that is estimated before the run"
    )
    return [Claim(says, checks)]
