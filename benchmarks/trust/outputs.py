"""Outputs whose path is that of an input under another name: no file that is read may be replaced.

A case chooses a file that a command reads (texts, seeds, stop words, vectors, a part of a model), another
name of it (through .., a link to the file or to its folder, a hard link, other case), and an option that
writes there. Afterwards every input is what it was, by all its names.
"""

from __future__ import annotations

import contextlib
import os
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.trust._children import TOPICS, command, write_texts
from benchmarks.trust.cases import is_sentence

FAST = ["--no-levels", "--sweeps", "2", "--clusters", "3", "--json"]
# option -> the endings of a name that it takes
FIT_OUTPUTS = {"-o": (".csv", ".jsonl", ".xlsx", ".parquet", ""), "--report": (".html", ".csv", ""),
               "--model": ("",), "--checkpoint": (".ckpt", "")}  # fmt: skip


def replaced(number: int, seed: int) -> str:
    """For `cases.run`: fine or refused, or which input was replaced."""
    draw = random.Random(f"{seed} {number}")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        inputs = _inputs(draw, Path(folder))
        what = draw.choice(["fit", "fit", "fit", "predict", "report", "edit", "large"])
        given, victim, option = _arguments(draw, what, inputs)
        name = _another_name(draw, victim, _endings(what, option, victim))
        told = name if draw.random() < 0.5 else os.path.abspath(name)
        if draw.random() < 0.3 and what != "large":  # the input by its other name
            given = [told if one == str(victim) else one for one in given]
            told = str(victim)
        before = {path: Path(path).read_bytes() for path in _all_files(Path(folder))}
        said = _run(what, given, option, told, draw.random() < 0.85)
        changed = [path for path, content in before.items() if _content(path) != content]
        changed += [name] if _content(name) != victim.read_bytes() else []
    line = f"{what} {' '.join(map(str, given))} {option} {told}"
    if changed:
        return f"{line}: {sorted(set(changed))} replaced, {said or 'and nothing was said'}"
    if said and not is_sentence(ValueError(said)):
        return f"{line}: not a sentence: {said}"
    return "refused" if said else "fine"


def _inputs(draw: random.Random, folder: Path) -> dict[str, Path]:
    """The files that commands read, by what they are."""
    Path("sub dir").mkdir()
    texts, more = write_texts(Path("in.csv"), 24), write_texts(Path("sub dir/more.csv"), 12)
    seeds = Path(draw.choice(["topics.csv", "topics.json", "topics.yaml"]))
    said = {".csv": "name,words\nbaking,bread flour\n", ".json": '{"baking": ["bread", "flour"]}'}
    seeds.write_text(said.get(seeds.suffix, "baking: [bread, flour]\n"))
    Path("stop.txt").write_text("oven\n")
    words = sorted({word for topic in TOPICS for word in topic.split()})
    Path("words.vec").write_text("".join(f"{w} {i} {i * i % 7} 1\n" for i, w in enumerate(words)))
    files = {"texts": texts, "more": more, "seeds": seeds, "stop words": Path("stop.txt"),
             "vectors": Path("words.vec")}  # fmt: skip
    for name, content in _model().items():
        path = folder / "model" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        files[f"model/{name}"] = Path("model") / name
    return files


@cache
def _model() -> dict[str, bytes]:
    """The files of a model."""
    with tempfile.TemporaryDirectory() as folder:
        texts, model = write_texts(Path(folder) / "in.csv"), Path(folder) / "model"
        made = command("fit", texts, "--model", model, "-o", Path(folder) / "out.csv", *FAST)
        assert made.code == 0, made.err
        return {path.name: path.read_bytes() for path in model.iterdir()}


def _arguments(
    draw: random.Random, what: str, files: dict[str, Path]
) -> tuple[list[str], Path, str]:
    """The arguments of a command, a file that it reads, and the option that writes."""
    texts, in_model = (
        files["texts"],
        [path for name, path in files.items() if name.startswith("model/")],
    )
    if what in ("report", "edit"):
        edits = ["--rename", "0=Bread"] if what == "edit" else []
        return ["model", *edits], draw.choice(in_model), "-o"
    read = {"texts": [str(texts)], "more": [str(texts), str(files["more"])]}
    if what == "large":
        return [str(texts)], texts, "out"
    if what == "predict":
        victim = draw.choice([texts, files["more"], *in_model])
        return ["model", str(texts), str(files["more"])], victim, "-o"
    role = draw.choice(["texts", "more", "seeds", "stop words", "vectors"])
    given = read.get(role, [str(texts)])
    options = {"seeds": "--seeds", "stop words": "--stop-words", "vectors": "--embedder"}
    given += [options[role], str(files[role])] if role in options else []
    given += [] if role == "vectors" else ["--embedder", "none"]
    return [*given, *FAST], files[role], draw.choice(list(FIT_OUTPUTS))


def _endings(what: str, option: str, victim: Path) -> tuple[str, ...]:
    if what == "fit":
        return FIT_OUTPUTS[option]
    return {"report": (".html",), "edit": ("",), "large": (".csv",)}.get(what, (".csv", ".jsonl"))


def _another_name(draw: random.Random, path: Path, endings: tuple[str, ...]) -> str:
    """Another path to the same file, where it can be with an ending that the option takes."""
    link = Path(f"link{draw.choice(endings)}")
    linked = Path("linked folder")
    ways: list[Callable[[], Any]] = [
        lambda: path,
        lambda: f"./{path}",
        lambda: f"new/../{path}",  # through a folder that is not there
        lambda: f"sub dir/..//{path}",
        lambda: link.symlink_to(os.path.abspath(path)) or link,
        lambda: link.symlink_to(path) or f"new/../{link}",
        lambda: linked.symlink_to(path.parent.absolute()) or linked / path.name,
        lambda: linked.symlink_to(path.parent.absolute()) or f"{linked}/new/../{path.name}",
        lambda: os.link(path, link) or link,
        lambda: _twice(link, path),
    ]
    other_case = path.with_name(path.name.swapcase())
    if other_case.exists():
        ways.append(lambda: other_case)
    return str(draw.choice(ways)())


def _twice(link: Path, path: Path) -> Path:
    Path("first link").symlink_to(os.path.abspath(path))
    link.symlink_to("first link")
    return link


def _run(what: str, given: list[str], option: str, told: str, force: bool) -> str:
    """Run it; what was said if it did not succeed."""
    if what == "large":
        import coterie

        try:
            coterie.cluster_large(
                given[0], told, levels=False, n_sweeps=2, embedder=None, n_clusters=3
            )
        except coterie.errors.CoterieError as error:
            return str(error)
        return ""
    also = ["-o", "else.csv"] if what == "fit" and option != "-o" else []
    forced = ["--force"] if force else []
    said = command(what, *given, option, told, *also, *forced)
    return "" if said.code == 0 else said.err.strip().splitlines()[-1].removeprefix("Error: ")


def _all_files(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file()]


def _content(path: str) -> bytes | None:
    real = os.path.realpath(path)  # a folder of the name may not be there
    return Path(real).read_bytes() if os.path.isfile(real) else None
