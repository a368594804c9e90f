"""One row each: a sweep on the GPU beside the blocked sampler on all cores of the same machine."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

import numpy as np

from coterie import metrics, urns
from coterie.backends import SamplerOptions
from coterie.backends.cpu import BACKEND as CPU
from coterie.backends.cuda import BACKEND as GPU
from coterie.backends.cuda import _device
from coterie.counts import Counts, from_ids
from coterie.start import first_assignment
from coterie.state import assigned
from coterie.urns import Urn

from ..harness.data import LONG, SHORT, load
from ..harness.store import Options, Row
from . import corpora

CORES = os.cpu_count() or 1
WARM, TIMED = 5, 9
LONG_TEXTS = dict(n_docs=300_000, n_words=102_000, mean_length=323.0, steep=1.15)
SHORT_TEXTS = dict(n_docs=10_000_000, n_words=200_000, mean_length=10.0, spread=0.3)
TITLES = dict(n_docs=1_000_000, n_words=100_000, mean_length=8.0, spread=0.3)


def card() -> str:
    """The name of the GPU."""
    cupy = _device.get().xp
    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def long_texts(options: Options) -> Row:
    return _sweeps(options, LONG_TEXTS, 200)


def long_texts_many_clusters(options: Options) -> Row:
    return _sweeps(options, LONG_TEXTS, 2000)


def short_texts(options: Options) -> Row:
    return _sweeps(options, SHORT_TEXTS, 1000)


def located(options: Options) -> Row:
    """Titles with vectors of 256 dimensions."""
    return _sweeps(options, TITLES, 500, n_dimensions=256)


def settled(options: Options) -> Row:
    """Host arrays to labels that hardly move, from random ones; kernels compiled before."""
    counts, topic = _made(options, LONG_TEXTS, 200)
    urn = urns.finite(200, 0.1, urns.per_word(0.1, counts.n_words))
    own: Any = GPU.open(counts, urn, assigned(counts, urn, topic), SamplerOptions("blocked"))
    floor = [own.sweep(2, sweep).moved for sweep in range(1, 6)][-1] / counts.n_docs
    del own
    began = time.perf_counter()
    chain: Any = GPU.open(
        counts, urn, first_assignment(counts, urn, "random", 1, GPU), SamplerOptions("blocked")
    )
    moved, seconds = [], []
    for sweep in range(1, 31):
        moved.append(chain.sweep(1, sweep).moved / counts.n_docs)
        chain.assignment()
        seconds.append(time.perf_counter() - began)
    within = [i for i in range(2, 30) if max(moved[i - 2 : i + 1]) <= max(1.2 * floor, 1e-3)]
    still = [i for i in range(2, 30) if max(moved[i - 2 : i + 1]) < 1e-3]
    return {
        "moved": [round(share, 5) for share in moved],
        "moved_from_the_planted_topics": round(floor, 5),
        "seconds_to_that": round(seconds[within[0]], 3) if within else None,
        "seconds_to_0.1_percent": round(seconds[still[0]], 3) if still else None,
        "seconds_of_30_sweeps": round(seconds[-1], 3),
        "nmi": round(metrics.nmi(topic, chain.assignment().labels), 4),
    }


def agreement(options: Options) -> Row:
    """Labels of 20 sweeps on both, block for block the same; and of one sweep from each state."""
    row: Row = {}
    for name in (*SHORT, LONG)[: 1 if options.quick else None]:
        documents, classes = load(name)
        counts = _counted(documents)
        urn = urns.finite(100 if name == LONG else 300, 0.1, urns.per_word(0.1, counts.n_words))
        how = SamplerOptions("blocked", n_jobs=CORES)
        first = first_assignment(counts, urn, "random", 1, CPU)
        here, there = (place.open(counts, urn, first, how) for place in (CPU, GPU))
        one_sweep = 0
        for sweep in range(1, 21):
            start = here.assignment()
            again = GPU.open(counts, urn, start, how) if sweep in (1, 2, 10, 20) else None
            here.sweep(3, sweep), there.sweep(3, sweep)
            if again is not None:
                again.sweep(3, sweep)
                one_sweep = max(one_sweep, int((_labels(again) != _labels(here)).sum()))
        nmi = [metrics.nmi(classes, _labels(chain)) for chain in (here, there)]
        row[name] = {
            "documents": counts.n_docs,
            "nmi_cpu": round(nmi[0], 4),
            "nmi_gpu": round(nmi[1], 4),
            "different_after_one_sweep": one_sweep,
            "different_after_20_sweeps": int((_labels(here) != _labels(there)).sum()),
        }
    return row


def scaling(options: Options) -> Row:
    """X-DMM's Figure 3: long texts on 1 to all cores, and on the GPU; the labels of all are compared."""
    counts, _ = _made(options, LONG_TEXTS | {"n_docs": 60_000}, 200)
    urn = urns.finite(200, 0.1, urns.per_word(0.1, counts.n_words))
    first = first_assignment(counts, urn, "random", 1, CPU)
    row: Row = {}
    labels: list[Any] = []
    chain: Any
    for n_jobs in [n for n in (1, 2, 4, 8, 16) if n <= CORES]:
        chain = CPU.open(counts, urn, first, SamplerOptions("blocked", n_jobs=n_jobs))
        row[f"cpu, {n_jobs} threads"] = _seconds(chain, 3)[-1]
        labels.append(_labels(chain))
    size = first.labels.size
    for name, block in (("gpu, blocks of the cpu", None), ("gpu, one block", size)):
        chain = GPU.open(counts, urn, first, SamplerOptions("blocked", block_size=block))
        row[name] = _seconds(chain, 3)[-1]
        if block is None:
            labels.append(_labels(chain))
    row["documents_different"] = int(max((one != labels[0]).sum() for one in labels))
    return row


def _sweeps(options: Options, size: dict[str, Any], k: int, n_dimensions: int = 0) -> Row:
    """Seconds a sweep, from the planted topics on, counts up to date after each."""
    counts, topic = _made(options, size, k)
    urn: Urn = urns.finite(k, 0.1, urns.per_word(0.1, counts.n_words))
    if n_dimensions:
        counts = counts._replace(vectors=corpora.vectors_for(topic, n_dimensions, _device.get().xp))
        urn = urns.located(urn, 20.0)
        _device.get().give_back()
    first = assigned(counts, urn, topic)
    began = time.perf_counter()
    chain: Any = GPU.open(counts, urn, first, SamplerOptions("blocked"))
    opened = time.perf_counter() - began
    seconds = _seconds(chain, WARM + TIMED)[WARM:]
    row = {
        "documents": counts.n_docs,
        "tokens": int(counts.length.sum()),
        "pairs": int(counts.ptr[-1]),
        "clusters": int((chain.assignment().size > 0).sum()),
        "gpu_ms": round(1e3 * statistics.median(seconds), 3),
        "gpu_ms_from_to": [round(1e3 * f(seconds), 3) for f in (min, max)],
        "open_s": round(opened, 3),
        "drawn_exactly": round(chain.share_listed, 5),
        "moved": round(chain.share_moved, 5),
    }
    del chain
    _device.get().give_back()
    chain = CPU.open(counts, urn, first, SamplerOptions("blocked", n_jobs=CORES))
    row["cpu_threads"] = CORES
    row["cpu_s"] = round(_seconds(chain, 2)[-1], 3)
    row["cpu_over_gpu"] = round(1e3 * row["cpu_s"] / row["gpu_ms"], 1)
    return row


def _made(options: Options, size: dict[str, Any], k: int) -> tuple[Counts, Any]:
    part = 10 if options.quick else 1
    made = corpora.planted(
        **{**size, "n_docs": size["n_docs"] // part}, n_topics=k, xp=_device.get().xp
    )
    _device.get().give_back()
    return made


def _seconds(chain: Any, n: int) -> list[float]:
    """Seconds of n sweeps; a sweep ends when its counts are up to date."""
    found = []
    for sweep in range(1, n + 1):
        began = time.perf_counter()
        chain.sweep(1, sweep)
        _device.get().xp.cuda.Device().synchronize()
        found.append(time.perf_counter() - began)
    return found


def _labels(chain: Any) -> Any:
    return np.array(chain.assignment().labels)


def _counted(documents: list[list[str]]) -> Counts:
    words: dict[str, int] = {}
    ids = np.array([words.setdefault(w, len(words)) for doc in documents for w in doc], np.int32)
    ptr = np.cumsum([0, *map(len, documents)])
    return from_ids(ptr, ids, len(words), "a benchmark").counts
