"""What shards cost in quality: NMI after 20 sweeps in 1, 4 and 16 shards, and without any."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from ..harness.claims import Check, Claim
from ..harness.data import load
from ..harness.scores import score
from ..harness.seeds import Seeds, over_seeds
from ..harness.store import Options, Results, Row, Rows
from ..harness.tables import markdown, signed

CORPORA = ("googlenews_title_snippet", "mstream_tweets")
URNS = ("finite", "process")
SHARDS = (0, 1, 4, 16)  # 0: none, the plain backend
BAR, SEEDS, SWEEPS = 0.01, 10, 20


class Ask(NamedTuple):
    """One fit."""

    corpus: str
    urn: str
    shards: int
    seed: int = 0


def run(options: Options) -> Rows:
    results = Results("engine/shard_quality", options)
    n = options.times(SEEDS)
    for corpus, urn, shards in product(options.choose(CORPORA), URNS, SHARDS):
        ask = Ask(corpus, urn, shards)
        results.fill(_row, over_seeds(_key(corpus, urn, shards), ask, n))
    return results.rows


def _key(corpus: str, urn: str, shards: int) -> str:
    return f"{corpus}, {urn}, {f'{shards} shards' if shards else 'no shards'}"


def _row(ask: Ask) -> Row:
    from coterie import GSDMM, GSDPMM

    corpus = load(ask.corpus)
    make: Any = GSDMM if ask.urn == "finite" else GSDPMM
    how = dict(sampler="blocked", backend="sharded" if ask.shards else "cpu", n_sweeps=SWEEPS)
    model = make(**how, n_jobs=1, random_state=ask.seed)
    options = model._options()._replace(shards=ask.shards or None)
    model._options = lambda: options
    model.fit(corpus.documents)
    found = score(corpus.classes, model.labels_.tolist())
    return found | {"log_joint": model.trace_[-1].log_joint}


def table(rows: Rows) -> str:
    seeds, lines = Seeds(rows), []
    for corpus, urn in product(CORPORA, URNS):
        keys = [_key(corpus, urn, shards) for shards in SHARDS]
        if not any(seeds.runs(key) for key in keys):
            continue
        cells = [seeds.cell(key, "nmi") for key in keys]
        lines.append([f"{corpus}, {urn}", seeds.counted(keys), *cells])
    return markdown(["corpus, urn", "seeds", "no shards", "1", "4", "16"], lines)


def claims(rows: Rows) -> list[Claim]:
    seeds = Seeds(rows)
    below, within = [], []
    for corpus, urn, shards in product(CORPORA, URNS, SHARDS[2:]):
        gain = seeds.gain(_key(corpus, urn, shards), _key(corpus, urn, 1), "nmi")
        name, shown = f"{corpus}, {urn}, {shards} shards", signed(gain)
        below.append(Check(name, shown, None if gain is None else gain.mean >= -BAR))
        within.append(Check(name, shown, None if gain is None else abs(gain.mean) <= BAR))
    ours = "The mean NMI of 4 and of 16 shards is"
    why = "Where it is not, more shards find more."
    return [
        Claim(f"{ours} at most {BAR:g} below that of one shard", below),
        Claim(f"{ours} within {BAR:g} of that of one shard", within, why=why),
    ]
