"""States on which the kernels' conditional is compared with the reference's, and how to force a way.

Run as a program with NUMBA_DISABLE_JIT=1 this measures the conditional of every case exactly, with
the kernels as plain Python; `test_oracle` does so, and also draws from the compiled ones.
"""

import json
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from tiny import corpus, from_bags, promoted, random_corpus, random_ids, random_labels, seeded

from coterie import state as state_room
from coterie import urns
from coterie._rng import DRAW_TREE
from coterie.backends import SamplerOptions, cpu
from coterie.backends._gibbs import GibbsChain
from coterie.counts import Counts
from coterie.kernels import _envelope, _open, _work, gibbs, reference
from coterie.urns import Urn

NEW = reference.NEW


class Case(NamedTuple):
    """A state by its labels, and the documents to ask about."""

    counts: Counts
    urn: Urn
    z: np.ndarray
    documents: tuple[int, ...] = (0, 5)  # one among others, one alone
    flag: np.ndarray | None = None  # which words promote: the promoted urn


class Way(NamedTuple):
    """Constants that decide which way to a draw the kernel takes."""

    row_cost: float
    safe_nats: float
    tries: int = 32  # of the envelope; 0: the tree of sums is asked at once (as plain Python only)


ROWS, POSTINGS, MIXED = 1e9, 0.0, 5.0
WAYS = {
    "as it comes": Way(MIXED, 600.0),
    "rows": Way(ROWS, 600.0),
    "postings": Way(POSTINGS, 600.0),
    "tree": Way(POSTINGS, 600.0, tries=0),
    "long, rows": Way(ROWS, -1.0),
    "long, postings": Way(POSTINGS, -1.0),
}


def _cases() -> dict[str, Case]:
    beta, uneven = urns.per_word(0.4, 12), np.linspace(0.1, 2.0, 12)
    texts = ["ab", "bc", "d", "aae", "ef", "ggh", "hi", "ci", "k", "dk"]
    short = corpus(*texts, n_words=12)  # few shared words: the touched way
    tied = corpus(*texts, n_words=12, weight=[1, 3, 1, 2, 1, 2, 4, 1, 1, 2])
    middle = random_corpus(10, 12, 9, 6)
    z = np.array([0, 0, 1, 2, 2, 3, 1, 4, 4, 2])  # document 5 is alone
    after_seeds = np.array([0, 2, 3, 1, 4, 5, 3, 6, 6, 1])  # and document 0 with its seed
    finite, process = urns.finite(9, 0.6, beta), urns.process(1.7, beta)
    full = urns.finite(5, 0.6, beta)
    arriving = np.where(np.arange(10) < 6, z, -1)
    cases = {
        "finite": Case(middle, finite, z),
        "finite, short": Case(short, finite, z),
        "finite, full": Case(short, full, z),
        "finite, Eq. 3": Case(middle, urns.changed(finite, burst=0.0), z),
        "finite, Eq. 3, tied": Case(tied, urns.changed(finite, burst=0.0), z, (0, 1, 5)),
        "finite, alpha 0": Case(short, urns.finite(9, 0.0, beta), z),
        "finite, uneven beta": Case(short, urns.finite(9, 0.6, uneven), z),
        "finite, tied": Case(tied, finite, z, (0, 1, 5)),
        "finite, arriving": Case(short, finite, arriving, (6,)),
        "process": Case(middle, process, z),
        "process, short": Case(short, process, z),
        "process, tied": Case(tied, process, z, (0, 1, 5)),
        "process, arriving": Case(tied, process, arriving, (6,)),
        "seeded process": Case(short, seeded(process, aab=0.7, l=1.2), after_seeds),
        "seeded process, tied": Case(tied, seeded(process, aab=0.7, l=1.2), after_seeds, (0, 1, 5)),
        "seeded finite": Case(short, seeded(finite, aab=0.7, l=1.2), after_seeds),
    }
    cases |= _promoted_cases(cases)
    return cases | {f"long, {name}": case for name, case in _long_cases().items()}


RELATED = ("abde", "bac", "cb", "db", "eag", "gh", "hgi", "kd")  # words of one document, too


def _promoted_cases(cases: dict[str, Case]) -> dict[str, Case]:
    """The same states with related words, half of the words promoting."""
    names = ["finite", "finite, short", "finite, tied", "process, short", "seeded process"]
    out = {}
    for name in names:
        counts, urn, z, documents, _ = cases[name]
        flag = (np.arange(counts.word.size) % 3 != 0).astype(np.uint8)
        out[f"promoted {name}"] = Case(counts, promoted(urn, 0.3, *RELATED), z, documents, flag)
    return out


def _long_cases() -> dict[str, Case]:
    """Documents beyond what a plain product holds, in clusters that are nearly as good."""
    n_words = 200
    common = np.arange(150).repeat(1 + np.arange(150) % 3)
    heavy = np.full(40, 160)  # one word forty times: the log-gamma branch
    bags = [
        np.concatenate([common, heavy, [161, 162]]),
        np.concatenate([common, heavy, [161, 163]]),
        np.concatenate([common, heavy, [162, 164]]),
        np.concatenate([common[:-1], heavy, [162, 165]]),
        np.array([170, 171]),
    ]
    counts = from_bags(bags, n_words)
    tied = counts._replace(weight=np.array([1, 1, 2, 1, 1]))
    finite = urns.finite(6, 0.3, urns.per_word(0.05, n_words))
    process = urns.process(0.5, np.linspace(0.01, 0.3, n_words))
    z = np.array([0, 1, 2, 2, 1])
    huge = random_ids(1500, 1200, 9)  # 1,500 words, some of them hundreds of times
    twins = from_bags([[*huge, 0, 2], [*huge, 0, 1], [*huge, 2, 3]], n_words=1200)
    return {
        "finite": Case(counts, finite, z, (0, 2, 4)),
        "finite, Eq. 3": Case(counts, urns.changed(finite, burst=0.0), z, (0, 4)),
        "process": Case(counts, process, z, (0, 2)),
        "tied": Case(tied, process, z, (0, 2)),
        "arriving": Case(counts, process, np.array([0, 1, 2, -1, -1]), (3,)),
        "huge": Case(twins, urns.process(0.5, urns.per_word(0.02, 1200)), np.arange(3), (0,)),
    }


def open_case(case: Case, way: Way) -> GibbsChain:
    """The case as a backend's handle, laid out so that the kernel takes this way."""
    before = state_room.ROW_COST, _open.SAFE_NATS
    state_room.ROW_COST, _open.SAFE_NATS = way.row_cost, way.safe_nats
    try:
        state = state_room.from_labels(case.counts, case.urn, case.z.astype(np.int32), case.flag)
        assert state.z.tolist() == case.z.tolist()  # so that a slot is the reference's label
        return GibbsChain(case.counts, case.urn, state)
    finally:
        state_room.ROW_COST, _open.SAFE_NATS = before


def conditional(case: Case, d: int) -> dict[int, float]:
    """The reference's probabilities; -1 is a new cluster."""
    label, log_weight = reference.log_weights(case.counts, case.urn, case.z, d, case.flag)
    weight = np.exp(log_weight - log_weight.max())
    return dict(zip(label.tolist(), (weight / weight.sum()).tolist(), strict=True))


def named(k: int, exact: dict[int, float]) -> int:
    """A slot the reference knows, or NEW: an own cluster without others is as empty as any."""
    return k if k in exact else NEW


# ------------------------------------------------------------------- exact laws, in plain Python


class Law(NamedTuple):
    """Probability of each outcome of a draw, and whether only touched clusters were summed."""

    probability: dict[int, float]
    touched: bool


def law(case: Case, way: Way, d: int) -> Law:
    """The law of the kernel's draw, by measuring the set of numbers behind each outcome."""
    handle = open_case(case, way)
    stats = handle.scratch.stats
    given = [0.0, 0.0]  # the even draws (where) and the odd ones (accepted there?)
    gibbs.uniform = _envelope.uniform = lambda random, draw: given[
        0 if draw >= DRAW_TREE else draw % 2
    ]
    _envelope.TRIES = way.tries

    def outcome(where: float, accept: float) -> int | None:
        """The cluster drawn, or None if the envelope refuses these numbers."""
        given[:] = where, accept
        others = stats[_work.FULL_SUMS] + (way.tries > 0) * stats[_work.TREE_DRAWS]
        parts = (
            case.counts,
            case.urn,
            handle.state,
            handle.fixed,
            handle.derived,
            handle.scratch,
            d,
        )
        promoted = gibbs.fill_given(*parts) if case.urn.relations.promotion else 0
        if handle.fixed.is_long[d]:
            k = int(gibbs.draw_long(*parts, where, promoted))
        else:
            k = int(gibbs.draw_short(*parts, np.uint64(0), promoted))
        if case.urn.relations.promotion:
            gibbs.clear_given(handle.fixed, handle.scratch, d)
        now = stats[_work.FULL_SUMS] + (way.tries > 0) * stats[_work.TREE_DRAWS]
        return k if now == others else None

    outcome(0.5, 0.0)
    touched = bool(stats[_work.TOUCHED_DRAWS])
    measure: dict[int, float] = {}
    # the sums are walked in order, so few cells will do; the envelope visits clusters again
    for lo, hi, k in pieces(lambda u: outcome(u, 0.0), cells=128 if touched else 4):
        if k is not None:
            middle = (lo + hi) / 2
            accepted = pieces(lambda u, at=middle: outcome(at, u), cells=1)
            share = sum(end - start for start, end, same in accepted if same == k)
            measure[k] = measure.get(k, 0.0) + (hi - lo) * share
    total = sum(measure.values())
    return Law({k: part / total for k, part in measure.items()}, touched)


def pieces(f: Callable[[float], int | None], cells: int) -> list[tuple[float, float, int | None]]:
    """Intervals of [0, 1) on which f is constant, if none is shorter than a cell: (from, to, f)."""
    ends = np.linspace(0.0, 1.0 - 2.0**-53, cells + 1).tolist()
    todo = [(ends[i], f(ends[i]), ends[i + 1], f(ends[i + 1])) for i in reversed(range(cells))]
    found: list[tuple[float, float, int | None]] = []
    while todo:
        lo, f_lo, hi, f_hi = todo.pop()
        if f_lo == f_hi or hi - lo < 1e-8:
            if found and found[-1][2] == f_lo:
                lo = found.pop()[0]
            found.append((lo, hi, f_lo))
        else:
            middle = (lo + hi) / 2
            f_middle = f(middle)
            todo += [(middle, f_middle, hi, f_hi), (lo, f_lo, middle, f_middle)]
    return found


def compare(case: Case, way: Way) -> dict[str, float]:
    """The largest difference from the reference, and how many documents went the touched way."""
    error, touched = 0.0, 0
    for d in case.documents:
        exact, drawn = conditional(case, d), law(case, way, d)
        measured = dict.fromkeys(exact, 0.0)
        for k, p in drawn.probability.items():
            measured[named(k, exact)] += p
        error = max(error, *(abs(measured[k] - exact[k]) for k in exact))
        touched += drawn.touched
    return {"error": error, "touched": touched}


def opened_when_full() -> int:
    """How often a full finite urn opens one more cluster: the last numbers below one, many alphas."""
    counts = corpus(*(2 * letter for letter in "abcdefghijklmnop"), "ab", n_words=20)
    z = np.append(np.arange(16), 0)
    opened = 0
    for alpha in np.linspace(0.01, 2.0, 200):
        case = Case(counts, urns.finite(16, alpha, urns.per_word(0.4, 20)), z)
        handle = open_case(case, WAYS["postings"])
        for steps in range(1, 4):
            gibbs.uniform = _envelope.uniform = lambda random, draw, u=1.0 - steps * 2.0**-53: (
                u if draw % 2 == 0 else 0.0
            )
            k = gibbs.draw_short(
                counts,
                case.urn,
                handle.state,
                handle.fixed,
                handle.derived,
                handle.scratch,
                16,
                np.uint64(0),
                0,
            )
            opened += int(k == NEW)
    return opened


# ------------------------------------------------------------------------------------ whole runs


def run_labels(name: str, n_sweeps: int, sampler: str = "gibbs") -> list[int]:
    """Labels after some sweeps of a small corpus on which the kernel takes every way."""
    heaviest, urn = RUNS[name]
    counts = random_corpus(150, 600, 150, 20140824, heaviest, topics=12)
    labels = random_labels(counts.n_docs, 40, 1)
    first = state_room.from_labels(counts, urn, labels).assignment
    handle = cpu.BACKEND.open(counts, urn, first, SamplerOptions(sampler))
    for sweep in range(1, n_sweeps + 1):
        handle.sweep(20160516, sweep)
    return handle.state.z.tolist()


SMALL_BETA = urns.per_word(0.01, 600)
RUNS = {
    "finite": (1, urns.finite(100, 0.1, SMALL_BETA)),
    "process": (1, urns.process(10.0, SMALL_BETA)),
    "tied": (3, urns.finite(100, 0.1, np.linspace(0.002, 0.05, 600))),
    "seeded": (1, seeded(urns.process(10.0, SMALL_BETA), aaabbc=1.0, xyz=0.5)),
    "promoted": (1, promoted(urns.finite(100, 0.1, SMALL_BETA), 0.3, "abcd", "ba", "dac")),
}
CASES = _cases()
# a document that is long as it is takes the same way where every document is taken to be long
SAME = {name for name in WAYS if name.startswith("long") or name == "tree"}
PAIRS = [(c, w) for c in CASES for w in WAYS if not (c.startswith("long") and w in SAME)]

if __name__ == "__main__":
    found = {f"{c}; {w}": compare(CASES[c], WAYS[w]) for c, w in PAIRS}
    json.dump(found, sys.stdout)
