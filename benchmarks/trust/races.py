"""Two processes, one place: one of them gets it, the other is told, and no result is lost.

`measure(50)` starts two processes at once, in turn on a result folder, a table, a model and a
checkpoint. A process that ends well must have left its result where it says; one that does not must
say so in one sentence.
"""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from . import _children as children

CASES = ("folder", "table", "model", "checkpoint")
SENTENCES = ("in use by another run of coterie", "only replaced with --force")
ELSEWHERE = 3  # the exit code of a result under another name


def measure(n: int = 50, seed: int = 0) -> dict[str, Any]:
    """Race `n` times; how often a result was lost, a traceback seen or something left behind."""
    return children.in_fresh_process("benchmarks.trust.races", n, seed)


def _measure(n: int, seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    counts = {"races": 0, "lost": 0, "tracebacks": 0, "leftovers": 0}
    ends: dict[str, int] = {"both": 0, "one was told": 0, "under another name": 0}
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        source = children.write_texts(Path(folder) / "in.csv")
        _warm_up(Path(folder), source)
        for i in range(n):
            case = CASES[i % len(CASES)]
            with tempfile.TemporaryDirectory(dir=folder) as place:
                # most at the same moment, some a little apart
                delay = draw.choice((0.0, 0.0, draw.uniform(0.0, 0.3)))
                said = _race(case, Path(place), source, delay)
                found = [*_judge(case, Path(place), said), *_left(Path(place))]
            counts["races"] += 1
            ends["both"] += all(one["code"] == 0 for one in said)
            ends["one was told"] += any(one["code"] == 1 for one in said)
            ends["under another name"] += any(one["code"] == ELSEWHERE for one in said)
            for kind, what in found:
                counts[kind] += 1
                failures.append(f"{case}, {delay:.3f} s apart: {what}")
    return {**counts, "ends": ends, "failures": failures[:20]}


def _warm_up(folder: Path, source: Path) -> None:
    _work("model", folder / "warm", source, 0)
    children.do(lambda: _work("folder", folder / "warm.coterie", source, 0))


def _race(case: str, folder: Path, source: Path, delay: float) -> list[dict[str, Any]]:
    """Two children that wait for the same moment; what each says of itself."""
    name = {"table": "out.csv", "checkpoint": "run.ckpt"}.get(case, "out")
    moment = time.monotonic() + 0.05
    running = []
    for who in (0, 1):
        begin = moment + who * delay

        def work(who: int, begin: float) -> dict[str, Any]:
            time.sleep(max(0.0, begin - time.monotonic()))
            return _work(case, folder / name, source, who)

        running.append(children.start(functools.partial(work, who, begin)))
    ended = [children.end(child) for child in running]
    return [one.result or {"code": -1, "said": one.error, "at": []} for one in ended]


def _work(case: str, target: Path, source: Path, who: int) -> dict[str, Any]:
    """Write to the place: exit code, sentence, and where the result is by what was told."""
    if case in ("folder", "table"):
        options = ["--sweeps", "3", "--no-levels", "--seed", who, "--json"]
        said = children.command("fit", source, "-o", target, *options)
        paths = json.loads(said.out)["paths"] if said.code in (0, ELSEWHERE) else {}
        return {"code": said.code, "said": said.err, "at": [*paths.values()]}
    from coterie import GSDMM
    from coterie.demo import make_corpus
    from coterie.errors import CoterieError

    docs = make_corpus(60)[0]
    path = target if case == "checkpoint" else None
    try:
        model = GSDMM(12, n_sweeps=20, random_state=1, checkpoint=path).fit(docs)
        if case == "model":
            model.save(target)
    except CoterieError as error:
        return {"code": 1, "said": f"Error: {error}\n", "at": []}
    return {"code": 0, "said": "", "at": [str(target)]}


def _judge(case: str, folder: Path, said: list[dict[str, Any]]) -> list[tuple[str, str]]:
    wrong = []
    for one in said:
        if one["code"] not in (0, 1, ELSEWHERE) or "Traceback" in one["said"]:
            wrong.append(("tracebacks", one["said"]))
        if one["code"] == 1 and not any(part in one["said"] for part in SENTENCES):
            wrong.append(("lost", f"an odd refusal: {one['said']}"))
        wrong += [("lost", f"{at} is not there") for at in one["at"] if not os.path.exists(at)]
    claims = [set(one["at"]) for one in said if one["at"]]
    if not claims:
        wrong.append(("lost", "nobody wrote a result"))
    # A model or a finished checkpoint may be written by one after the other; a result may not.
    if case in ("folder", "table") and len(claims) == 2 and claims[0] & claims[1]:
        wrong.append(("lost", f"both say that they wrote {claims[0] & claims[1]}"))
    if case == "model" and claims:
        from coterie import load

        load(folder / "out")  # whole, or this raises
    return wrong


def _left(folder: Path) -> list[tuple[str, str]]:
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    return [("leftovers", f"left behind: {left}")] if left else []


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]), int(sys.argv[2]))))
