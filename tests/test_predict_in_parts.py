"""`coterie predict` of a file that is read in parts: the table that it writes when all is read at once."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import cli, refused, texts  # noqa: F401  fixtures

from coterie.cli import predict, progress
from coterie.clustering import Clustering
from coterie.text import _pieces, _which_files, batches

N = 60


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from coterie import cluster

    folder = tmp_path_factory.mktemp("fitted") / "model"
    cluster(texts(), levels=False, n_sweeps=6).save(folder)
    return folder


@pytest.fixture(autouse=True)
def tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pieces, "PIECE", 500)
    monkeypatch.setattr(batches, "ROWS", 7)


def rows(n: int = N) -> list[dict[str, Any]]:
    """Texts that are missing, unknown, quoted, or contain line ends, beside values that no type holds."""
    found = [{"id": f"{i:03}", "text": text, "n": f"{i}.10"} for i, text in enumerate(texts(n))]
    found[3]["text"] = 'bread, "fresh"\nflour dough'
    found[20]["text"] = "qqqq zzzz"
    found[21]["text"] = ""
    found[40]["text"] = "=bread+oven"
    found[41]["n"] = "1234567890123456789"
    return found


def put(kind: str, other: str = "other") -> Path:
    """A file of a kind in the working directory; `other` is the name of its last column."""
    frame = pl.DataFrame(rows()).rename({"n": other})
    path = Path(f"new.{kind}")
    if kind == "txt":
        path.write_text("".join(f"{text}\n" for text in texts(N)))
    elif kind == "parquet":
        frame.write_parquet(path, row_group_size=5)
    elif kind == "jsonl":
        lines = [json.dumps({**row, other: [1, "x"]}) for row in rows()]
        lines[50] = json.dumps({"text": "oven bread", "id": 7.10})
        path.write_text("\n".join(lines))
    else:
        content = frame.write_csv(separator="\t" if kind == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(content) if kind.endswith(".gz") else content)
    return path


def same(one: str, other: str) -> bool:
    if one.endswith("parquet"):
        return pl.read_parquet(one).equals(pl.read_parquet(other), null_equal=True)
    return Path(one).read_bytes() == Path(other).read_bytes()


@pytest.mark.parametrize("other", ["other", "cluster"])
@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("csv", "csv"),
        ("csv.gz", "csv"),
        ("csv", "tsv"),
        ("tsv", "tsv"),
        ("txt", "csv"),
        ("jsonl", "jsonl"),
        ("parquet", "parquet"),
    ],
)
def test_the_same_table_in_parts_as_at_once(
    cli: Any,  # noqa: F811
    model: Path,
    kind: str,
    written: str,
    other: str,
) -> None:
    file = put(kind, other)
    at_once = cli("predict", model, file, "-o", f"one.{written}")
    in_parts = cli("predict", model, file, "-o", f"two.{written}", "--out-of-core")
    assert at_once.code == in_parts.code == 0, in_parts.err
    assert same(f"one.{written}", f"two.{written}")
    assert said(at_once.err) == said(in_parts.err).replace("two.", "one.")
    assert not list(Path().glob(".*"))


def said(printed: str) -> str:
    """What was printed, without the stages and their times."""
    return "\n".join(printed.splitlines()[-2:])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_a_table_in_another_encoding(cli: Any, model: Path, encoding: str) -> None:  # noqa: F811
    """It becomes UTF-8, which can hold the name of every cluster, and a note says so."""
    content = pl.DataFrame(rows()).write_csv(separator=";").replace("fresh", "frösh")
    Path("x.csv").write_bytes(content.encode(encoding))
    assert cli("predict", model, "x.csv", "-o", "one.csv").code == 0
    printed = cli("predict", model, "x.csv", "-o", "two.csv", "--out-of-core")
    one, two = Path("one.csv").read_bytes(), Path("two.csv").read_bytes()
    assert two.decode("utf-8-sig") == one.decode(encoding)
    assert ("it is UTF-8 instead of" in printed.err) == (one != two) == (encoding != "utf-8-sig")


@pytest.mark.parametrize("kind", ["csv", "tsv", "txt"])
def test_the_same_on_standard_output(cli: Any, model: Path, kind: str) -> None:  # noqa: F811
    file = put(kind)
    at_once = cli("predict", model, file, "-q").out
    assert at_once.count("\n") >= N
    assert cli("predict", model, file, "-q", "--out-of-core").out == at_once
    assert cli("predict", model, "-", "-q", stdin=b"bread flour\n").out.startswith("text,cluster")


def test_the_columns_of_the_model_or_others(cli: Any, model: Path) -> None:  # noqa: F811
    """The column that the model was fitted on, one that is asked for, or the only one with texts."""
    frame = pl.DataFrame({"a": texts(N), "b": texts(N)[::-1], "n": range(N)})
    frame.write_csv("two.csv")
    frame.drop("b").write_csv("one.csv")
    refused(cli("predict", model, "two.csv", "-o", "a.csv", "--out-of-core"), "Several columns")
    for file, *arguments in (
        ["one.csv"],
        ["two.csv", "-t", "b"],
        ["two.csv", "-t", "a,b"],
    ):
        assert cli("predict", model, file, *arguments, "-o", "a.csv", "-f").code == 0
        assert (
            cli("predict", model, file, *arguments, "-o", "b.csv", "-f", "--out-of-core").code == 0
        )
        assert same("a.csv", "b.csv")


def test_a_file_that_takes_more_memory_than_there_is(
    cli: Any,  # noqa: F811
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = put("csv")
    assert cli("predict", model, file, "-o", "one.csv").code == 0
    monkeypatch.setenv("COTERIE_MAX_MEMORY", "100MB")
    monkeypatch.setattr(_which_files, "ONE_PART", 0)
    monkeypatch.setattr(predict, "_predict", None)  # what predicts all rows at once
    assert cli("predict", model, file, "-o", "two.csv").code == 0
    assert same("one.csv", "two.csv")
    said = cli("predict", model, file, "--json").err
    assert "The file is too large for memory and is read in parts, so --json does not work" in said


@pytest.mark.parametrize(
    ("kind", "arguments", "says"),
    [
        ("csv", ["--json"], "is read in parts, so --json does not work"),
        ("csv", ["--sheet", "A"], "so --sheet does not work"),
        ("csv", ["-o", "a.parquet"], "the table must be csv as well: name a .csv file with -o"),
        ("jsonl", [], "the table must be jsonl as well"),
        ("parquet", ["-o", "a.xlsx"], "the table must be parquet as well"),
        ("parquet", ["-o", "a.parquet", "--header"], "only applies to csv"),
    ],
)
def test_what_needs_all_rows_is_refused(
    cli: Any,  # noqa: F811
    model: Path,
    kind: str,
    arguments: list[str],
    says: str,
) -> None:
    file = put(kind)
    found = cli("predict", model, file, *arguments, "--out-of-core")
    assert found.code == 1
    assert says in found.err
    assert [path.name for path in Path().iterdir()] == [file.name]
    assert "standard input" in cli("predict", model, "-", "--out-of-core").err


def raising(
    plain: Callable[..., Any], error: type[BaseException], after: int
) -> Callable[..., Any]:
    calls = []

    def call(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) > after:
            raise error
        return plain(*arguments)

    return call


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt, 130), (MemoryError, 1), (OSError, 1)]
)
def test_what_ends_early_leaves_nothing(
    cli: Any,  # noqa: F811
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    error: type[BaseException],
    code: int,
) -> None:
    file = put(kind)
    monkeypatch.setattr(Clustering, "added_to", raising(Clustering.added_to, error, 5))
    found = cli("predict", model, file, "-o", f"out.{kind}", "--out-of-core")
    assert found.code == code
    assert [path.name for path in Path().iterdir()] == [file.name]


def test_what_is_printed_may_end_early(
    cli: Any,  # noqa: F811
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = put("csv")
    plain = Clustering.added_to
    monkeypatch.setattr(Clustering, "added_to", raising(plain, KeyboardInterrupt, 5))
    found = cli("predict", model, file, "--out-of-core")
    assert found.code == 130
    assert "The table that was printed is not complete." in found.err
    assert 1 < found.out.count("\n") < N


def test_ctrl_c_once_all_is_predicted_lets_the_table_be_written(
    cli: Any,  # noqa: F811
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from test_cli_outputs import interrupting

    from coterie.text.batch_files import TableFile

    file = put("parquet")
    assert cli("predict", model, file, "-o", "one.parquet").code == 0
    monkeypatch.setattr(TableFile, "_join", interrupting(TableFile._join, 1))
    found = cli("predict", model, file, "-o", "two.parquet", "--out-of-core")
    assert found.code == 130
    assert "all results were written to two.parquet" in found.err
    assert same("one.parquet", "two.parquet")


@pytest.mark.parametrize("how", [[], ["--out-of-core"]])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_progress_says_how_many_rows_are_done_and_when_it_ends(
    cli: Any,  # noqa: F811
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    how: list[str],
) -> None:
    """Each text takes a second here."""
    now = [0.0]
    plain = Clustering.added_to

    def slow(groups: Clustering, some: list[str]) -> Any:
        now[0] += len(some)
        return plain(groups, some)

    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(Clustering, "added_to", slow)
    printed = cli("predict", model, put(kind), "-o", f"out.{kind}", *how).err
    lines = [line.split() for line in printed.splitlines() if line.startswith("predicting: ")]
    assert len(lines) >= 4
    for _, done, _, total, unit, _, _, left, *_ in lines:
        assert int(total) == N
        assert unit == "texts"
        assert abs(float(left) - (N - int(done))) <= 0.5
