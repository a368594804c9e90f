"""Options of every front door with odd values, and other people's texts on the terminal.

Each value either works or is refused in one sentence: never a traceback, a "bug" or a control character.
"""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import typer
from test_cli import cli  # noqa: F401  a fixture

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, XDMM, Tokenizer
from coterie.cli.app import app
from coterie.demo.corpus import make_messages
from coterie.errors import CoterieError, InvalidInput

TEXTS = make_messages(24, 1)[0]
FAST: dict[str, Any] = {"n_sweeps": 2, "levels": False, "embedder": None}
QUICK = ("--sweeps", "2", "--no-levels", "--embedder", "none")
LONG = 100_000 * "x"
ESCAPE = "\x1b[31mred\x07\u202e"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
X = np.array([[(i * j + i // 3) % 4 % 3 for j in range(5)] for i in range(12)])
WORDS = ["aa", "bb", "cc", "dd", "ee"]


# ---------------------------------------------------------------- the terminal
def shown(said: Any) -> str:
    text: str = said.out + said.err
    assert CONTROL.findall(text) == []
    assert "bug in coterie" not in text
    return text


def test_names_and_values_of_others_reach_no_terminal(cli: Any) -> None:  # noqa: F811
    """Of columns, files, folders, groups, values and ids, whatever command shows them."""
    text, kind, day, id_, other = (
        f"{ESCAPE} {name}" for name in ("text", "kind", "day", "id", "x")
    )
    columns = {text: [f"{t} {ESCAPE}" for t in TEXTS], kind: [f"{ESCAPE}a", "b"] * 12}
    columns |= {
        day: ["2026-01-01", "2026-02-02"] * 12,
        id_: [f"{i % 9}{ESCAPE}" for i in range(24)],
    }
    file, folder = Path(f"{ESCAPE}.csv"), f"{ESCAPE}.out"
    pl.DataFrame({**columns, other: [1.5] * 24}).write_csv(file)
    seeds = Path("seeds.json")
    seeds.write_text('{"\\u001b[31m one": ["parking", "ticket"]}')
    about = ("--by", kind, "--over", day, "--show", f"{id_},{other}", "--per-group")
    columns_of = ("--text", text, "--id", id_, "--seeds", seeds)
    said = cli("fit", file, "-o", folder, *columns_of, *about, *QUICK)
    assert said.code == 0, said.err
    assert "By ␛[31mred" in shown(said)
    assert "Over ␛[31mred" in said.out
    for command in (
        ("predict", folder, file, "--fail-if-drift"),
        ("predict", folder, file, "-o", f"{ESCAPE}new.csv"),
        ("edit", folder, "--rename", f"0={ESCAPE}", "-o", f"{ESCAPE}edited"),
        ("edit", folder, "--merge", "0,1"),
        ("edit", folder, "--drop-words", ESCAPE),
        ("info", folder),
        ("info", folder, "--json"),
        ("report", folder, "-o", f"{ESCAPE}.html", "--by", kind, "--over", day, "--show", other),
        ("fit", file, "--by", id_, "-o", "b"),
        ("fit", file, "--over", kind, "-o", "c"),
        ("fit", file, "-o", "d"),
        ("fit", file, file, "-o", folder),
        (ESCAPE,),
        ("fit", file, "--\x1b[31mred"),
    ):
        if command[0] == "predict" and "-o" not in command:
            said = cli(*command)  # the table is printed as it is, except in a terminal
            assert CONTROL.findall(said.err) == []
        else:
            shown(cli(*command))


COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
BASE = {
    "fit": ["a.csv", "-o", "out", "--force", *QUICK],
    "predict": ["model", "a.csv", "-o", "new.csv", "--force"],
    "edit": ["model", "--rename", "0=New", "-o", "edited", "--force"],
    "info": ["model"],
    "report": ["model", "-o", "page.html", "--force"],
}
NUMBERED = {"rename": "0={}", "merge": "0,{}", "split": "0={}"}


ODD_TEXTS = {"not UTF-8": "\udcff", "escape": ESCAPE, "long": LONG, "empty": "", "blank": " "}


@pytest.mark.parametrize("odd", ODD_TEXTS)
@pytest.mark.parametrize("command", BASE)
def test_every_option_with_odd_texts(command: str, odd: str, cli: Any) -> None:  # noqa: F811
    pl.DataFrame({"text": TEXTS}).write_csv("a.csv")
    coterie.cluster("a.csv", **FAST).save("model")
    for option in COMMANDS[command].params:
        if getattr(option, "is_flag", False):
            continue
        given = NUMBERED.get(option.name, "{}").format(ODD_TEXTS[odd])
        arguments = list(BASE[command])
        if option.param_type_name == "argument":
            arguments[arguments.index("a.csv" if option.name == "files" else "model")] = given
        else:
            arguments.append(f"{option.opts[0]}={given}")
        said = cli(command, *arguments)
        assert said.code in (0, 1, 2), option.name
        shown(said)
        if said.code == 1:
            assert len(said.err) < 3000
            assert said.err.splitlines()[-1].startswith("Error: ")


def test_a_name_that_is_not_utf_8_is_refused(cli: Any) -> None:  # noqa: F811
    coterie.cluster(TEXTS, **FAST).save("model")
    said = cli("edit", "model", "--rename", "0=\udcffa", "-o", "edited")
    assert said.code == 1
    assert "holds bytes that are not UTF-8. Write it in UTF-8." in said.err
    groups = coterie.cluster(TEXTS, **FAST)
    for door in (lambda: groups.rename(0, "\ud800"), lambda: groups.merge([0, 1], "\ud800")):
        with pytest.raises(InvalidInput, match="not UTF-8"):
            door()
    with pytest.raises(InvalidInput, match="not UTF-8"):
        coterie.cluster(TEXTS, seeds={"\ud800": ["parking"]}, **FAST)
    groups.name_with(lambda words, texts: f"\ud800 {words[0]}")
    groups.write("named.csv")


# ---------------------------------------------------------------- Python
def estimator(kind: Any, **given: Any) -> Any:
    needs: dict[str, Any] = {"n_sweeps": 2, "random_state": 0}
    if kind is TSDPMM:
        needs["seeds"] = {"one": ["aa"]}
    if kind is GPUDMM:
        needs["word_vectors"] = {word: np.eye(5)[i] for i, word in enumerate(WORDS)}
    return kind(**{**needs, **given}).fit(X, vocabulary=WORDS)


def clustered(name: str, value: Any) -> Any:
    of_files = ("text", "id", "encoding", "header", "sheet")
    data = "a.csv" if name in of_files else TEXTS
    return coterie.cluster(data, **{**FAST, name: value})


def large(name: str, value: Any) -> Any:
    return coterie.cluster_large("a.csv", **{"n_sweeps": 2, "embedder": None, name: value})


def refused(call: Callable[[], Any]) -> str:
    """The sentence with which a call is refused; "" if it is not."""
    try:
        call()
    except CoterieError as error:
        return str(error)
    return ""


Door = Callable[[str, Any], Any]
DOORS: dict[str, tuple[Any, Door]] = {
    "cluster": (coterie.cluster, clustered),
    "cluster_large": (coterie.cluster_large, large),
    "Tokenizer": (Tokenizer, lambda name, value: Tokenizer(**{name: value})),
    **{
        kind.__name__: (kind, lambda name, value, kind=kind: estimator(kind, **{name: value}))
        for kind in (GSDMM, GSDPMM, TSDPMM, GPUDMM, XDMM)
    },
}
ODD_VALUES: dict[str, Any] = {
    "array": np.array([1, 2, 3]),
    "array of one": np.array([3]),
    "array without dimensions": np.array(3),
    "matrix": np.ones((2, 2)),
    "texts": np.array(["a", "b"]),
    "masked": np.ma.masked,
    "Series of pandas": pd.Series([1, 2]),
    "Series of polars": pl.Series([1, 2]),
    "DataFrame of pandas": pd.DataFrame({"a": [1]}),
    "DataFrame of polars": pl.DataFrame({"a": [1]}),
    "expression": pl.col("a"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "NaN": float("nan"),
    "inf": float("inf"),
    "-inf": np.float32("-inf"),
    "complex": 1 + 2j,
    "bytes": b"abc",
    "object": object(),
    "lists": [[1, 2], [3]],
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("odd", ODD_VALUES)
def test_every_option_with_odd_values(
    odd: str, door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"text": TEXTS}).write_csv("a.csv")
    of, knock = DOORS[door]
    for name in inspect.signature(of).parameters:
        if name in ("data", "out", "callbacks"):
            continue
        said = refused(lambda name=name: knock(name, ODD_VALUES[odd]))
        assert said == "" or re.fullmatch(r"[^\n]+\.", said), name


WHOLE = [getattr(np, f"{u}int{n}") for u in ("", "u") for n in (8, 16, 32, 64)]


@pytest.mark.parametrize("kind", WHOLE, ids=lambda kind: kind.__name__)
def test_whole_numbers_of_any_type(kind: Any) -> None:
    """They mean the same as those of Python, at every door."""
    three = kind(3)
    for name in ("n_clusters", "max_clusters", "n_sweeps", "random_state", "n_jobs", "min_df"):
        how = {"n_sweeps": 4, "embedder": None, "levels": name == "n_clusters"}
        one, other = (coterie.cluster(TEXTS, **{**how, name: n}) for n in (3, three))
        np.testing.assert_array_equal(other.labels, one.labels)
        assert other.settings == one.settings
        assert other.notes == one.notes
    for of in (GSDMM, GSDPMM, TSDPMM, GPUDMM, XDMM):
        known = inspect.signature(of).parameters
        for name in ("n_clusters", "n_sweeps", "random_state", "init", "n_jobs", "block_size"):
            if name in known and not (of is XDMM and name == "init"):
                one, other = (estimator(of, **{name: n}) for n in (3, three))
                np.testing.assert_array_equal(other.labels_, one.labels_)
    assert one.top_words(3) == other.top_words(three)
    assert len(one.representative_docs(three)[0]) <= 3
    groups = coterie.cluster(TEXTS, n_sweeps=4, embedder=None)
    np.testing.assert_array_equal(groups.at(kind(2)).labels, groups.at(2).labels)
    assert groups.top_words(three) == groups.top_words(3)
    assert groups.representatives(kind(1), three) == groups.representatives(1, 3)
    groups.rename(kind(1), "renamed")
    groups.split(groups.merge([kind(0), kind(1)]), kind(2))
    assert coterie.datasets.tickets(three, three).equals(coterie.datasets.tickets(3, 3))


@pytest.mark.parametrize("name", ["min_df", "max_df"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, np.float32("inf")])
def test_how_common_words_are_is_a_number(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} is .*inf|nan.*Use 'auto'"):
        coterie.cluster(TEXTS, **FAST, **{name: value})


LONG_PATHS = {"one name": LONG, "many folders": "/".join(60 * [200 * "y"])}
PATHS: dict[str, Callable[[str], Any]] = {
    "cluster": lambda path: coterie.cluster(path, **FAST),
    "cluster a path": lambda path: coterie.cluster(Path(path), **FAST),
    "cluster several": lambda path: coterie.cluster([Path(path), Path(path)], **FAST),
    "cluster a pattern": lambda path: coterie.cluster(f"{path}*.csv", **FAST),
    "cluster_large": lambda path: coterie.cluster_large(path),
    "load": coterie.load,
    "save": lambda path: coterie.cluster(TEXTS, **FAST).save(path),
    "write": lambda path: coterie.cluster(TEXTS, **FAST).write(f"{path}.csv"),
    "report": lambda path: coterie.cluster(TEXTS, **FAST).report(path),
    "checkpoint": lambda path: coterie.cluster(TEXTS, checkpoint=path, **FAST),
    "seeds": lambda path: coterie.cluster(TEXTS, seeds=path, **FAST),
    "stop_words": lambda path: coterie.cluster(TEXTS, stop_words=path, **FAST),
    "embedder": lambda path: coterie.cluster(TEXTS, embedder=path),
    "checkpoint of an estimator": lambda path: GSDMM(4, checkpoint=path).fit(X),
    "save of an estimator": lambda path: GSDMM(4, n_sweeps=2).fit(X).save(path),
    "word_vectors": lambda path: GPUDMM(4, word_vectors=path).fit(TEXTS),
    "seeds of an estimator": lambda path: TSDPMM(seeds=path).fit(TEXTS),
}


@pytest.mark.parametrize("kind", LONG_PATHS)
@pytest.mark.parametrize("door", PATHS)
def test_a_path_that_is_too_long(door: str, kind: str) -> None:
    with pytest.raises(CoterieError) as caught:
        PATHS[door](LONG_PATHS[kind])
    said = str(caught.value)
    assert len(said) < 3000
    assert said.endswith(".")


# ---------------------------------------------------------------- the environment
@pytest.mark.parametrize(
    "setting", ["NUMBA_NUM_THREADS=0", "NUMBA_NUM_THREADS=-1", "POLARS_MAX_THREADS=0"]
)
def test_no_threads_at_all(setting: str, tmp_path: Path) -> None:
    """At every name of the package, and in the command; errors can be caught."""
    name, _, value = setting.partition("=")
    (tmp_path / "a.csv").write_text("text\n" + "\n".join(["red apple", "fast car"] * 9))
    script = """
import coterie
for name in sorted(coterie.__all__):
    try:
        getattr(coterie, name)
    except coterie.errors.InvalidInput as error:
        print(error)
"""
    environment = {**os.environ, name: value}
    sentence = (
        f"The environment variable {name} is '{value}'. Set it to a number of threads, 1 or more,"
    )
    for command in (["-c", script], ["-m", "coterie", "fit", "a.csv"]):
        done = subprocess.run(
            [sys.executable, *command],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout or done.stderr
        assert {line.removeprefix("Error: ") for line in said.splitlines()} == {
            f"{sentence} or remove it."
        }
        assert "panicked" not in done.stderr
