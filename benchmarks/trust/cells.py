"""Every cell that is not ours, through every way from a file to a file.

A case makes a table of odd cells (`odd_tables`), lets coterie fit, edit, load or predict it, and compares
what was written with what was given (`written`). Each cell must be what it was (`kept`), or a note must
name its column; a refusal in a sentence loses nothing, unless it calls files damaged that are whole.

    python -m benchmarks.trust.cells 0 1000          the classes of what went wrong in these cases
    python -m benchmarks.trust.cells 17 --keep DIR   one case, whose files stay in a folder
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.trust import odd_tables, written
from benchmarks.trust._children import command
from benchmarks.trust.odd_cells import TOPICS
from benchmarks.trust.odd_tables import Given
from benchmarks.trust.written import Wrong

FAST = ["--no-levels", "--sweeps", "2", "--embedder", "none", "--clusters", "3", "--language", "none",
        "--stop-words", "none", "--json"]  # fmt: skip
OUTPUTS = ("csv", "tsv", "jsonl", "parquet", "xlsx")
RENAME = ["--rename", "0=Another name"]  # which no cluster gets from its texts
PIECE, ROWS = 700, 9  # bytes and rows that are read at once out of core: small files have parts
# what a note says of a column without saying that its cells are not kept
_NO_LOSS = re.compile(
    "^The texts (were read|of the columns)|^The ids in the column|was read as the header"
    "|ha(s|ve) no header|new ones are|ours are called"
)
_CUT = re.compile("longer than a cell of Excel can hold")
# what no refusal may say: the files are whole, and have rows and a column of texts
_FALSE = re.compile(
    "damaged|This is a bug|file extension is wrong|cannot be read as a table|incomplete|not valid"
    r"|There is no column|no rows|is empty|\btable\.(csv|tsv|jsonl|parquet|xlsx)\b"
)


class Verdict(NamedTuple):
    """What became of a case: exact, said, refused, wrong or crash."""

    word: str
    way: str
    how: str
    wrong: list[Wrong]
    notes: list[str]


class Refused(Exception):
    """A command ended with a sentence."""


class Broken(Exception):
    """Something else than a cell was lost."""


def case(number: int, seed: int) -> str:
    """For `cases.run`: the verdict in a word, or what was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        found = play(number, seed, Path(folder))
    if found.word in ("exact", "refused", "said"):
        return {"exact": "fine"}.get(found.word, found.word)
    first = next(one for one in found.wrong if not one.said)
    return f"{found.way}: {first.what}: column {first.column!r}: {first.detail}"


def play(number: int, seed: int, folder: Path) -> Verdict:
    """Run one case in a folder."""
    draw = random.Random(f"{seed} {number}")
    given = odd_tables.made(draw, folder)
    way = draw.choices(list(WAYS), [weight for weight, _ in WAYS.values()])[0]
    if way == "out of core" and given.kind in ("json", "xlsx"):
        way = "file"  # these are not read in parts
    if way == "edit what was changed" and given.kind in ("parquet", "xlsx"):
        way = "edit"  # people change these in other programs
    kind = _kind_out(draw, given, way)
    name = f"{given.kind} -> {kind}, {way}, {len(given.paths)} files".removesuffix(", 1 files")
    how = f"{given.how}, {' '.join(given.options)}"
    with _small_pieces(), _panics() as panics:
        try:
            notes, given = WAYS[way][1](draw, given, kind, folder)
            refusal = error = ""
        except Refused as refused:
            notes, refusal, error = [], str(refused), ""
        except Broken as broken:
            notes, refusal, error = [], f"damaged: {broken}", ""
        except Exception:
            notes, refusal, error = [], "", traceback.format_exc()
        panic = panics()
    may_refuse = way == "edit what was changed" and "damaged" not in refusal
    if refusal and (may_refuse or not _FALSE.search(refusal)) and not panic:
        return Verdict("refused", name, how, [], [refusal])
    if error:
        crash = Wrong(f"crash: {error.splitlines()[-1][:80]}", "", error[-900:])
        return Verdict("crash", name, how, [crash], notes)
    if refusal:
        wrong = [Wrong(f"refused: {_plain(refusal)}", "", refusal)]
    else:
        wrong = [one._replace(said=_says(notes, one)) for one in _found(given, kind, folder)]
    if panic:
        wrong.append(Wrong("a panic is printed", "", panic))
    if given.order:  # then everything is in other rows
        wrong = [one._replace(what="edit put the old rows back") for one in wrong[:1]]
    word = "exact" if not wrong else "said" if all(one.said for one in wrong) else "wrong"
    return Verdict(word, name, how, wrong, notes)


def _found(given: Given, kind: str, folder: Path) -> list[Wrong]:
    path = folder / f"out.{kind}"
    path = path if path.exists() else folder / "result" / f"table.{kind}"
    try:
        return list(written.compared(given, kind, path))
    except Exception:
        error = traceback.format_exc()
        return [Wrong(f"cannot be read: {error.splitlines()[-1][:80]}", "", error[-600:])]


# ---------------------------------------------------------------- ways
def _kind_out(draw: random.Random, given: Given, way: str) -> str:
    own = {"json": "jsonl", "txt": "csv"}.get(given.kind, given.kind)
    if way == "groups":
        return draw.choice([own, "xlsx"])
    if way in ("out of core", "edit what was changed"):
        return own
    if way.startswith("edit") and draw.random() < 0.7:
        return own
    return own if draw.random() < 0.5 else draw.choice(OUTPUTS)


Played = tuple[list[str], Given]  # what coterie said, and what should be in the file


def _file(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    return _told("fit", *given.paths, "-o", folder / f"out.{kind}", *_options(given)), given


def _out_of_core(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    out = folder / f"out.{kind}"
    return _told("fit", *given.paths, "-o", out, "--out-of-core", *_options(given)), given


def _folder(draw: random.Random, given: Given, kind: str, folder: Path, *more: str) -> Played:
    to = ["-o", folder / "result", "--format", kind]
    return _told("fit", *given.paths, *to, *_options(given), *more), given


def _edit(draw: random.Random, given: Given, kind: str, folder: Path, *to: str) -> Played:
    notes, _ = _folder(draw, given, kind, folder)
    merges = json.loads((folder / "result" / "run.json").read_text())["n_clusters"] > 1
    words = (folder / "result" / "model" / "vocabulary.txt").read_text("utf-8").split("\n")
    drops = [["--drop-words", "bread"]] if "bread" in words else []
    edits = draw.choice([RENAME, *([["--merge", "0,1"]] if merges else []), *drops])
    return [*notes, *_told("edit", folder / "result", *edits, "--json", *to)], given


def _edit_elsewhere(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    notes, given = _edit(draw, given, kind, folder, "-o", str(folder / "other"))
    (folder / "result").rename(folder / "before")
    (folder / "other").rename(folder / "result")
    return notes, given


def _groups(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    """With a file or a sheet for each group, edited or not."""
    notes, _ = _folder(draw, given, kind, folder, "--per-group")
    before = written.rows_of_groups(given, kind, folder / "result")
    if draw.random() < 0.5:
        notes += _told("edit", folder / "result", *RENAME, "--json")
    after = written.rows_of_groups(given, kind, folder / "result")
    if before != after:
        raise Broken(f"the groups had {before} rows before the edit, and {after} after it")
    return notes, given


def _edit_changed(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    """The table is sorted or cut by hand before the edit, which keeps that or is refused."""
    notes, _ = _folder(draw, given, kind, folder)
    table = folder / "result" / f"table.{kind}"
    text = table.read_bytes().decode("utf-8", "surrogateescape")
    header, lines = "", text.split("\n")[:-1]
    if kind != "jsonl":
        header, *lines = lines
    cells = header + "".join(lines) if kind != "jsonl" else ""
    is_simple = len(lines) == given.n_rows and {'"', "\r", "\0"}.isdisjoint(cells)
    if not is_simple:
        return [*notes, *_told("edit", folder / "result", *RENAME, "--json")], given
    order = draw.choice([range(given.n_rows)[::-1], range(given.n_rows // 2)])
    said = [*([header] if header else []), *(lines[i] for i in order)]
    table.write_bytes(("\n".join(said) + "\n").encode("utf-8", "surrogateescape"))
    notes += _told("edit", folder / "result", *RENAME, "--json")
    columns = [c._replace(cells=[c.cells[i] for i in order]) for c in given.columns]
    return notes, given._replace(columns=columns, order=list(order))


def _load(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    import coterie

    notes = _told("fit", *given.paths, "-o", folder / "result", *_options(given))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            groups = coterie.load(folder / "result" / "model")
            groups.write(folder / f"out.{kind}")
        except coterie.errors.CoterieError as error:
            raise Refused(str(error)) from None
    said = [*groups.notes, *groups.rows.notes, *(str(one.message) for one in caught)]
    return [*notes, *said], given


def _predict(draw: random.Random, given: Given, kind: str, folder: Path) -> Played:
    plain = folder / "plain.csv"
    plain.write_text("text\n" + "".join(" ".join(TOPICS[i % 3][:4]) + "\n" for i in range(12)))
    _told("fit", plain, "--model", folder / "model", "-o", folder / "plain-out.csv", *FAST)
    how = ["-o", folder / f"out.{kind}", "--text", given.text, *given.options, "--json"]
    return _told("predict", folder / "model", *given.paths, *how), given


WAYS: dict[str, tuple[int, Callable[..., Played]]] = {
    "file": (32, _file),
    "folder": (4, _folder),
    "groups": (4, _groups),
    "out of core": (14, _out_of_core),
    "edit": (16, _edit),
    "edit elsewhere": (4, _edit_elsewhere),
    "edit what was changed": (4, _edit_changed),
    "load and write": (14, _load),
    "predict": (8, _predict),
}


def _options(given: Given) -> list[str]:
    few = given.n_rows < 6  # the last one of an option counts
    return ["--text", given.text, *given.options, *FAST, *(["--clusters", "1"] if few else [])]


def _told(*arguments: Any) -> list[str]:
    """Run a command; its notes, or Refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # libraries' own
        said = command(*arguments)
    if said.code == 0:
        return [str(note) for note in json.loads(said.out).get("notes", [])]
    sentence = said.err.strip().splitlines()[-1] if said.err.strip() else ""
    if said.code != 1 or not sentence.startswith("Error: "):
        raise AssertionError(f"code {said.code}: {said.err[-500:]}")
    raise Refused(sentence.removeprefix("Error: "))


@contextmanager
def _small_pieces() -> Iterator[None]:
    """Let files of a few kilobytes be read in several parts."""
    from coterie.text import _pieces, batches

    before = _pieces.PIECE, _pieces.LONGEST, batches.ROWS
    _pieces.PIECE, _pieces.LONGEST, batches.ROWS = PIECE, 1_000, ROWS
    try:
        yield
    finally:
        _pieces.PIECE, _pieces.LONGEST, batches.ROWS = before


@contextmanager
def _panics() -> Iterator[Callable[[], str]]:
    """Catch what libraries that are not Python print about a panic."""
    with tempfile.TemporaryFile() as file:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(file.fileno(), 2)

        def seen() -> str:
            file.seek(0)
            text = file.read().decode("utf-8", "replace")
            file.seek(0, os.SEEK_END)
            return text[-300:] if "panicked at" in text else ""

        try:
            yield seen
        finally:
            os.dup2(before, 2)
            os.close(before)


# ---------------------------------------------------------------- notes
def _says(notes: list[str], wrong: Wrong) -> bool:
    """Whether a note speaks of what is wrong in a column."""
    told = [note for note in notes if not _NO_LOSS.search(note)]
    if re.match(r"(very )?long\b(?! ids)", wrong.what) and any(map(_CUT.search, told)):
        return True
    names = {wrong.column, written.as_named(wrong.column), wrong.written}
    said = {repr(name) for name in names - {""}}
    if not wrong.column:  # a name that is empty; what is said of the column follows
        said.add("'' (")
    return any(name in note for name in said for note in told)


def _plain(sentence: str) -> str:
    """A sentence without the names and numbers of one case."""
    files = r"\b[\w.-]+\.(csv|tsv|jsonl?|parquet|xlsx|txt)(\.gz)?"
    return re.sub(rf"'[^']*'|{files}|\d+|/\S+", "#", sentence)[:110]


# ---------------------------------------------------------------- looking into cases
def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust.cells", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="the folder for the files of the case")
    parser.add_argument("--each", type=int, default=2, help="how many cases to show of each class")
    options = parser.parse_args(arguments)
    numbers = range(options.first, options.end or options.first + 1)
    counts: Counter[str] = Counter()
    classes: dict[str, list[str]] = defaultdict(list)
    refusals: dict[str, list[str]] = defaultdict(list)
    for number in numbers:
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.keep or Path(scratch)
            folder.mkdir(exist_ok=True)
            found = play(number, options.seed, folder)
        counts[found.word] += 1
        if found.word == "refused":
            refusals[_plain(found.notes[0])].append(f"case {number}: {found.way}: {found.notes[0]}")
        for one in found.wrong:
            if not one.said:
                line = f"case {number}: {found.way} ({found.how}): {one.column!r}: {one.detail}"
                ends = found.way.partition(",")[0]
                classes[f"{ends}: {one.what}"].append(line)
        if len(numbers) == 1:
            print(found)
    for title, groups in (("wrong", classes), ("refused", refusals)):
        for what, lines in sorted(groups.items(), key=lambda pair: -len(pair[1])):
            print(f"{len(lines):5} {title}: {what}")
            for line in lines[: options.each]:
                print(f"        {line}")
    print(dict(counts))


if __name__ == "__main__":
    main()
