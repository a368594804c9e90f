"""SIGKILL at any moment: the old or the new result stands, a run resumes to the same labels.

`measure(300)` kills runs with a checkpoint (all samplers), `save` over a model, and `coterie fit
--force` over a result: at random moments, and just before or after the calls that write, flush,
rename and lock. After each kill the next run must find a whole result and leave nothing behind.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _children as children

SAMPLERS = ("gibbs", "blocked", "metropolis", "uncollapsed", "em")
N_SWEEPS = 8
# what a child may die at, functions of os, shutil and coterie._system: calls for each file or folder
HOOKS = {"mkdir": 1, "fsync": 3, "move_in": 1, "exchange": 1, "rmtree": 1, "lock": 1, "unlock": 1}
FOREIGN = (".{}.local", ".{}.0123456789abcdef", "{}.bak", ".{}.coterie-0123.tmp")


Aim = tuple[str, int, bool, bool]  # function, number of the call, after it, exchange is possible


def measure(n: int, seed: int = 0) -> dict[str, Any]:
    """Kill `n` times; how often something was lost, changed or left behind, and the first failures."""
    return children.in_fresh_process("benchmarks.trust.kills", n, seed)


def _measure(n: int, seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    counts = dict.fromkeys(("kills", "attempts", "between_renames"), 0)
    counts |= dict.fromkeys(("lost", "changed", "leftovers"), 0)
    kinds: dict[str, int] = {}
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        cases = [
            *(Resume(Path(folder), s) for s in SAMPLERS),
            Save(Path(folder)),
            Fit(Path(folder)),
        ]
        while counts["kills"] < n and counts["attempts"] < 10 * n:
            case = cases[counts["attempts"] % len(cases)]
            counts["attempts"] += 1
            with tempfile.TemporaryDirectory(dir=folder) as place:
                happened, found, how = attempt(case, Path(place), draw)
            for what in happened:
                counts[what] += 1
            for kind, said in found:
                counts[kind] += 1
                failures.append(f"{case.name}, {how}: {said}")
            kinds[case.name] = kinds.get(case.name, 0) + ("kills" in happened)
    return {**counts, "by_case": kinds, "failures": failures[:20]}


def attempt(case: Any, folder: Path, draw: random.Random) -> tuple[list[str], list[Any], str]:
    """Kill once, look, run again, look again: what happened, what was wrong, and how it was killed."""
    case.prepare(folder)
    foreign = [folder / name.format(case.target) for name in FOREIGN]
    for path in foreign:
        path.write_text("not ours")
    turn = draw.random()
    if turn < 0.3:
        moment = draw.uniform(0.0, case.seconds)
        how, exchange = f"after {moment:.4f} s", True
        ended = children.end(children.start(lambda: case.work(folder)), moment)
    else:
        if turn < 0.65:
            name, call, after, exchange = next(case.aimed)
        else:
            name = draw.choice(list(HOOKS))
            call, after = draw.randint(1, HOOKS[name] * case.writes), draw.random() < 0.5
            exchange = draw.random() < 0.7
        how = f"{'after' if after else 'before'} call {call} of {name}, exchange: {exchange}"

        def die() -> Any:
            children.die_at(name, call, after, exchange)
            return case.work(folder)

        ended = children.end(children.start(die))
    happened = ["kills"] if ended.killed else []
    if any(folder.glob(".*.tmp/old")) and not (folder / case.target).exists():
        happened.append("between_renames")
    wrong = [("lost", ended.error)] if ended.error else []
    try:
        wrong += [("lost", said) for said in case.look(folder, exchange)]
        wrong += [("changed", said) for said in case.again(folder)]
    except Exception as error:
        wrong.append(("lost", repr(error)))
    left = {path.name for path in folder.iterdir()} - {path.name for path in foreign} - case.files
    if left:
        wrong.append(("leftovers", f"left behind: {sorted(left)}"))
    if not all(path.exists() and path.read_text() == "not ours" for path in foreign):
        wrong.append(("lost", "a file of somebody else was touched"))
    return happened, wrong, how


def aims(exchange: list[tuple[str, int]], fallback: list[tuple[str, int]]) -> Iterator[Aim]:
    """Just before and just after each rename that replaces the old by the new, again and again."""
    each = [(name, call, True) for name, call in exchange]
    each += [(name, call, False) for name, call in fallback]
    return itertools.cycle(
        (n, call, after, can) for n, call, can in each for after in (False, True)
    )


class Resume:
    """A run with a checkpoint."""

    writes = N_SWEEPS
    target, files = "run.ckpt", {"run.ckpt"}

    def __init__(self, folder: Path, sampler: str) -> None:
        from coterie.demo import make_corpus

        self.name = f"checkpoint, {sampler}"
        self.sampler = sampler
        self.aimed = aims(exchange=[("exchange", 3)], fallback=[("link", 1), ("replace", 3)])
        self.docs = make_corpus(60)[0]
        self.expected = self.fit(None)
        began = time.perf_counter()
        children.do(lambda: self.fit(folder / f"{sampler}.ckpt"))
        self.seconds = time.perf_counter() - began

    def fit(self, path: Path | None) -> list[int]:
        from coterie import GSDMM

        how: dict[str, Any] = {"sampler": self.sampler, "n_sweeps": N_SWEEPS, "n_jobs": 1}
        model = GSDMM(12, alpha=0.1, random_state=3, checkpoint=path, **how)
        return [int(label) for label in model.fit(self.docs).labels_]

    def prepare(self, folder: Path) -> None:
        pass

    def work(self, folder: Path) -> list[int]:
        return self.fit(folder / "run.ckpt")

    def look(self, folder: Path, exchange: bool) -> list[str]:
        from coterie import checkpoint

        path = folder / "run.ckpt"
        if path.exists():  # whole, or this raises
            about = checkpoint.open_tensors(path)[1]
            if not 1 <= len(json.loads(about["trace"])) <= N_SWEEPS:
                return ["the checkpoint holds no sweeps"]
        return []

    def again(self, folder: Path) -> list[str]:
        labels = children.do(lambda: self.work(folder))
        return [] if labels == self.expected else ["the resumed run has other labels"]


class Save:
    """A model saved over another one."""

    name, writes = "save", 1
    target, files = "model", {"model"}

    def __init__(self, folder: Path) -> None:
        from coterie import GSDMM
        from coterie.demo import make_corpus

        # renames of a system without exchange: in (refused), the old one aside, the new one in
        self.aimed = aims(exchange=[("exchange", 1)], fallback=[("rename", 2), ("rename", 3)])
        docs = make_corpus(60)[0]
        self.models = [GSDMM(12, n_sweeps=3, random_state=seed).fit(docs) for seed in (1, 2)]
        self.labels = [[int(label) for label in model.labels_] for model in self.models]
        began = time.perf_counter()
        children.do(lambda: self.models[0].save(folder / "first"))
        self.seconds = time.perf_counter() - began

    def prepare(self, folder: Path) -> None:
        self.models[0].save(folder / "model")

    def work(self, folder: Path) -> None:
        self.models[1].save(folder / "model")

    def look(self, folder: Path, exchange: bool) -> list[str]:
        if exchange and not (folder / "model").is_dir():
            return ["no model stands under its name"]
        return [] if self.load(folder) in self.labels else ["neither the old model nor the new"]

    def again(self, folder: Path) -> list[str]:
        children.do(lambda: self.work(folder))
        return [] if self.load(folder) == self.labels[1] else ["the next save is not there"]

    def load(self, folder: Path) -> list[int]:
        from coterie import load

        return [int(label) for label in load(folder / "model").labels_]


class Fit:
    """`coterie fit --force` over an earlier result."""

    name, writes = "fit", 3
    target, files = "out", {"out", "in.csv"}
    inside = ("clusters.csv", "model", "report.html", "run.json", "table.csv")

    def __init__(self, folder: Path) -> None:
        # the first rename is that of the model inside the new folder
        self.aimed = aims(exchange=[("exchange", 1)], fallback=[("rename", 3), ("rename", 4)])
        self.source = children.write_texts(folder / "in.csv")
        self.first = folder / "first"
        self.tables: list[str] = []
        for seed in (0, 1):
            began = time.perf_counter()
            children.do(functools.partial(self.fit, self.first / str(seed), seed))
            self.seconds = time.perf_counter() - began
            self.tables.append((self.first / str(seed) / "table.csv").read_text())

    def fit(self, out: Path, seed: int) -> None:
        options = ("--sweeps", "3", "--no-levels", "--alpha", "1", "--seed", seed, "--force")
        said = children.command("fit", self.source, "-o", out, *options)
        if said.code:
            raise RuntimeError(said.err)

    def prepare(self, folder: Path) -> None:
        children.write_texts(folder / "in.csv")
        shutil.copytree(self.first / "0", folder / "out")

    def work(self, folder: Path) -> None:
        self.fit(folder / "out", 1)

    def look(self, folder: Path, exchange: bool) -> list[str]:
        if exchange and not (folder / "out").is_dir():
            return ["no result stands under its name"]
        said = children.do(lambda: children.command("info", folder / "out", "--json"))
        if said[0]:
            return [f"the result does not load: {said[2]}"]
        inside = tuple(sorted(path.name for path in (folder / "out").iterdir()))
        if inside != self.inside:
            return [f"the result holds {inside}"]
        return [] if self.seed(folder) in (0, 1) else ["neither the old result nor the new"]

    def again(self, folder: Path) -> list[str]:
        children.do(lambda: self.work(folder))
        return [] if self.seed(folder) == 1 else ["the next result is not there"]

    def seed(self, folder: Path) -> int:
        """Which of the two results stands there; -1 if its files do not fit together."""
        settings = json.loads((folder / "out" / "run.json").read_text())["settings"]
        seed = next(int(setting["value"]) for setting in settings if setting["name"] == "seed")
        table = (folder / "out" / "table.csv").read_text()
        return seed if table == self.tables[seed] else -1


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), int(sys.argv[2]))))
