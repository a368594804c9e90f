"""The command line: what people have goes in, files come out, and problems are one sentence."""

import csv
import io
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from coterie.cli import COMMANDS, exits, main

TOPICS = (
    "bread flour yeast oven dough",
    "bike wheel gear saddle tyre",
    "comet planet orbit telescope moon",
)
ESCAPE, OVERRIDE = "\x1b[31mred", "\u202egnp.exe"
FAST = ("--sweeps", "6")
ADDED = ("cluster", "name", "probability", "outlier_score", "trust")


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Iterator[Any]:
    """Run a command in a folder of its own, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")

    def run(*arguments: Any, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = Said(code, *capsys.readouterr())
        assert "Traceback" not in said.err
        return said

    yield run
    logging.getLogger("coterie").setLevel(logging.NOTSET)


def refused(said: Said, *fragments: str, code: int = 1) -> None:
    assert said.code == code
    assert said.out == ""
    sentence = said.err.splitlines()[-1]
    assert sentence.startswith("Error: ")
    for fragment in fragments:
        assert fragment in sentence
    assert not list(Path().glob(".*")), "something was left behind"


def texts(n: int = 30) -> list[str]:
    words = [topic.split() for topic in TOPICS]
    return [" ".join(words[i % 3][(i + j) % 5] for j in (0, 1, 3)) for i in range(n)]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    pl.DataFrame(rows).write_csv(path)
    return path


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    rows = [{"key": f"k{i}", "body": text, "stars": i % 5} for i, text in enumerate(texts())]
    return write_csv(tmp_path / "reviews.csv", rows)


class TestFit:
    def test_a_csv_file(self, cli: Any, reviews: Path) -> None:
        said = cli("fit", reviews, "--text", "body", "--id", "key", *FAST)
        assert said.code == 0, said.err
        out = Path("reviews.coterie")
        assert {p.name for p in out.iterdir()} == {
            "table.csv",
            "clusters.csv",
            "report.html",
            "model",
            "run.json",
        }
        table = pl.read_csv(out / "table.csv")
        assert table.columns == ["key", "body", "stars", *ADDED]
        assert table["body"].to_list() == texts()
        clusters = pl.read_csv(out / "clusters.csv")
        assert clusters["size"].sum() == 30
        assert {"name", "share", "words", "coherence", "example_1"} <= set(clusters.columns)
        shown = " ".join(said.out.split())
        for fragment in ("30 texts in", "share name example", "Written", "--clusters", "in total"):
            assert fragment in shown
        for stage in ("reading", "words", "sampling", "settling", "report", "writing"):
            assert stage in said.err
        assert not list(Path().glob(".*"))

    @pytest.mark.parametrize("kind", ["jsonl", "parquet", "tsv"])
    def test_the_table_is_like_the_file(self, cli: Any, kind: str) -> None:
        frame = pl.DataFrame({"text": texts(), "n": range(30)})
        read = {"jsonl": pl.read_ndjson, "parquet": pl.read_parquet, "tsv": pl.read_csv}[kind]
        write = {
            "jsonl": frame.write_ndjson,
            "parquet": frame.write_parquet,
            "tsv": frame.write_csv,
        }
        how = {"separator": "\t"} if kind == "tsv" else {}
        write[kind](f"in.{kind}", **how)
        assert cli("fit", f"in.{kind}", "-o", "out", *FAST).code == 0
        table = read(f"out/table.{kind}", **how)
        assert table["text"].to_list() == texts()
        assert "cluster" in table.columns

    def test_lines_of_text_and_standard_input(self, cli: Any) -> None:
        content = "\n".join(texts()).encode()
        Path("titles.txt").write_bytes(content)
        assert cli("fit", "titles.txt", *FAST).code == 0
        assert cli("fit", "-", *FAST, stdin=content).code == 0
        tables = [pl.read_csv(f"{name}.coterie/table.csv") for name in ("titles", "stdin")]
        assert tables[0].equals(tables[1])

    def test_nested_columns_fit_into_a_csv(self, cli: Any) -> None:
        pl.DataFrame({"text": texts(), "tags": [["a", "b"]] * 30}).write_ndjson("in.jsonl")
        assert cli("fit", "in.jsonl", "--format", "csv", *FAST).code == 0
        assert json.loads(pl.read_csv("in.coterie/table.csv")["tags"][0]) == ["a", "b"]

    def test_out_may_be_one_file(self, cli: Any, reviews: Path) -> None:
        said = cli("fit", reviews, "-o", "deep/t.parquet", "--report", "page.html", *FAST)
        assert said.code == 0
        assert pl.read_parquet("deep/t.parquet").height == 30
        assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
        assert not Path("reviews.coterie").exists()

    def test_out_may_be_standard_output(self, cli: Any, reviews: Path) -> None:
        said = cli("fit", reviews, "-o", "-", "--model", "kept", *FAST)
        rows = list(csv.DictReader(io.StringIO(said.out)))
        assert len(rows) == 30
        assert "30 texts in" in said.err
        assert cli("info", "kept").code == 0

    def test_json_is_all_there_is(self, cli: Any, reviews: Path) -> None:
        said = cli("fit", reviews, "--json", *FAST)
        facts = json.loads(said.out)
        assert facts["n_texts"] == 30
        assert facts["n_clusters"] == len(facts["clusters"])
        assert {"name", "size", "share", "words", "examples"} <= set(facts["clusters"][0])
        assert {"reading", "words", "sampling", "settling", "report"} <= set(facts["stages"])
        assert facts["notes"]
        assert facts["settings"]
        assert all(Path(path).exists() for path in facts["paths"].values())

    def test_quiet_is_silent(self, cli: Any, reviews: Path) -> None:
        assert cli("fit", reviews, "--quiet", *FAST) == (0, "", "")

    def test_seed_and_settings_arrive(self, cli: Any, reviews: Path) -> None:
        options = ["--max-clusters", "3", "--alpha", "0.2", "--beta", "0.3", "--seed", "7"]
        more = ["--min-df", "2", "--max-df", "0.9", "--language", "none", "--max-time", "60"]
        facts = json.loads(cli("fit", reviews, "--json", *options, *more, *FAST).out)
        chosen = {s["name"]: s["value"] for s in facts["settings"]}
        assert chosen["maximum clusters"] == 3
        assert (chosen["alpha"], chosen["beta"], chosen["seed"]) == (0.2, 0.3, 7)


class TestSmallAndOdd:
    @pytest.mark.parametrize("rows", [texts(10), texts(1), ["red car race"] * 20])
    def test_few_or_equal_rows(self, cli: Any, rows: list[str]) -> None:
        said = cli("fit", "-", "--json", *FAST, stdin="\n".join(rows).encode())
        assert said.code == 0, said.err
        assert json.loads(said.out)["n_texts"] == len(rows)
        shown = cli("info", "stdin.coterie")
        assert f"{len(rows):,} text" in shown.out

    def test_rows_without_text_are_counted(self, cli: Any, tmp_path: Path) -> None:
        rows = [{"id": i, "text": text} for i, text in enumerate([*texts(), "", "  ", None])]
        said = cli("fit", write_csv(tmp_path / "a.csv", rows), *FAST)
        assert "3 without words: cluster -1" in said.out

    def test_ids_that_occur_twice(self, cli: Any, tmp_path: Path) -> None:
        rows = [{"id": i // 2, "text": text} for i, text in enumerate(texts())]
        said = cli("fit", write_csv(tmp_path / "a.csv", rows), *FAST)
        assert "ids in the column 'id' are not unique (15 repeated)" in said.out

    def test_latin_1(self, cli: Any) -> None:
        lines = ["id,text", *(f"{i},café crème {text}" for i, text in enumerate(texts()))]
        Path("a.csv").write_bytes("\n".join(lines).encode("latin-1"))
        said = cli("fit", "a.csv", *FAST)
        assert "is not UTF-8" in said.out
        assert "--encoding" in said.out
        assert "café crème" in Path("a.coterie/table.csv").read_text(encoding="latin-1")

    def test_hostile_texts_do_nothing_in_the_terminal(self, cli: Any, tmp_path: Path) -> None:
        bad = f"[bold red]x[/nonsense] :smile: \x07 {ESCAPE} {OVERRIDE}"
        rows = [{"text": f"{bad} {text}", ESCAPE: OVERRIDE} for text in texts()]
        path = write_csv(tmp_path / "a.csv", rows)
        assert cli("fit", path, *FAST).code == 0
        shown = cli("info", "a.coterie")
        page = cli("report", "a.coterie")
        wrong = cli("fit", path, "--text", f"{ESCAPE}x", "-o", "b")
        assert "[bold red]x[/nonsense]" in shown.out
        assert ":smile:" in shown.out
        for said in (shown, page, wrong):
            for char in ("\x1b", "\x07", "\u202e"):
                assert char not in said.out + said.err


class TestRefusals:
    def test_a_missing_file(self, cli: Any, reviews: Path) -> None:
        refused(cli("fit", "review.csv"), "There is no file 'review.csv'", "'reviews.csv'?")
        refused(cli("fit", "nowhere/a.csv"), "the folder 'nowhere' does not exist")

    def test_a_missing_column(self, cli: Any, reviews: Path) -> None:
        said = cli("fit", reviews, "--text", "bod")
        refused(said, "(--text)", "'key', 'body', 'stars'", "Did you mean 'body'?")

    def test_a_column_of_numbers(self, cli: Any, reviews: Path) -> None:
        refused(
            cli("fit", reviews, "--text", "stars"), "'stars' holds whole numbers", "--text COLUMN"
        )

    def test_ragged_lines(self, cli: Any) -> None:
        Path("a.csv").write_text("id,text\n1,red car\n2,blue, car\n3,green car\n")
        refused(cli("fit", "a.csv"), "(line 3)")

    def test_an_empty_file(self, cli: Any) -> None:
        Path("a.csv").touch()
        refused(cli("fit", "a.csv"), "a.csv is empty", code=exits.EMPTY)
        refused(cli("fit", "-"), "standard input is empty", code=exits.EMPTY)

    def test_an_unknown_kind(self, cli: Any) -> None:
        Path("a.docx").write_bytes(b"PK")
        refused(cli("fit", "a.docx"), "a.docx", ".csv", ".xlsx")

    @pytest.mark.parametrize(
        ("option", "value", "said"),
        [
            ("--clusters", "0", "--clusters must be a whole number of at least 1; got 0"),
            ("--alpha", "-1", "--alpha must"),
            ("--beta", "nan", "--beta must"),
            ("--sweeps", "0", "--sweeps must"),
            ("--seed", "-1", "--seed must"),
            ("--max-time", "0", "--max-time must"),
            ("--min-df", "few", "--min-df must"),
            ("--max-df", "1.5", "--max-df"),
            ("--encoding", "utf-99", "--encoding is 'utf-99'"),
        ],
    )
    def test_a_bad_value(self, cli: Any, reviews: Path, option: str, value: str, said: str) -> None:
        refused(cli("fit", reviews, option, value), said)
        assert not Path("reviews.coterie").exists()

    def test_misuse(self, cli: Any, reviews: Path) -> None:
        for wrong in (["fit"], ["fit", reviews, "--n-clusters", "many"], ["fi"]):
            assert cli(*wrong).code == 2

    def test_debug_shows_where(self, reviews: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "coterie", "fit", reviews, "--text", "x", "--debug"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert "Traceback" in done.stderr

    def test_a_bug_is_one_sentence_too(
        self, cli: Any, reviews: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: Any, **__: Any) -> None:
            raise RuntimeError("that was not planned")

        monkeypatch.setattr("coterie.grouping.cluster", broken)
        refused(cli("fit", reviews), "RuntimeError: that was not planned", "--debug")


class TestPlaces:
    def test_what_exists_is_kept_unless_forced(self, cli: Any, reviews: Path) -> None:
        assert cli("fit", reviews, "--seed", "1", *FAST).code == 0
        before = Path("reviews.coterie/run.json").read_bytes()
        refused(cli("fit", reviews, *FAST), "reviews.coterie already exists", "--force")
        assert Path("reviews.coterie/run.json").read_bytes() == before
        assert cli("fit", reviews, "--force", *FAST).code == 0
        assert Path("reviews.coterie/run.json").read_bytes() != before

    def test_force_replaces_only_what_is_ours(self, cli: Any, reviews: Path) -> None:
        Path("mine").mkdir()
        Path("mine/thesis.txt").write_text("years of work")
        refused(cli("fit", reviews, "-o", "mine", "--force"), "thesis.txt")
        assert cli("fit", reviews, "-o", "out", *FAST).code == 0
        Path("out/notes.txt").write_text("mine")
        refused(cli("fit", reviews, "-o", "out", "--force"), "notes.txt")
        assert Path("mine/thesis.txt").exists()

    def test_an_empty_folder_may_be_filled(self, cli: Any, reviews: Path) -> None:
        Path("out").mkdir()
        assert cli("fit", reviews, "-o", "out", *FAST).code == 0

    @pytest.mark.parametrize("where", [["-o"], ["--model"], ["--report"]])
    def test_a_place_that_cannot_be_written(
        self, cli: Any, reviews: Path, where: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def never(*_: Any, **__: Any) -> None:
            raise AssertionError("the work began")

        monkeypatch.setattr("coterie.grouping.cluster", never)
        target = reviews / "under" / "a_file"
        refused(cli("fit", reviews, *where, target), "cannot be written", "is a file")

    def test_the_file_that_is_read(self, cli: Any, reviews: Path) -> None:
        before = reviews.read_bytes()
        refused(cli("fit", reviews, "-o", reviews, "--force"), "is the input file")
        assert reviews.read_bytes() == before

    def test_nothing_half_written(
        self, cli: Any, reviews: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert cli("fit", reviews, "-o", "old.csv", *FAST).code == 0
        old = Path("old.csv").read_bytes()

        def full(*_: Any) -> None:
            raise OSError(28, "No space left on device", "table.csv")

        monkeypatch.setattr("coterie.cli.tables.write_table", full)
        refused(cli("fit", reviews, *FAST), "No space left on device")
        assert not Path("reviews.coterie").exists()
        refused(cli("fit", reviews, "-o", "old.csv", "--force", *FAST), "No space left")
        assert Path("old.csv").read_bytes() == old


class TestModels:
    @pytest.fixture
    def fitted(self, cli: Any, reviews: Path) -> Path:
        assert cli("fit", reviews, "--text", "body", *FAST).code == 0
        return Path("reviews.coterie")

    def test_predict_agrees_with_fit(self, cli: Any, reviews: Path, fitted: Path) -> None:
        said = cli("predict", fitted, reviews)
        assert said.code == 0
        rows = pl.read_csv(io.StringIO(said.out))
        table = pl.read_csv(fitted / "table.csv")
        assert rows["cluster"].to_list() == table["cluster"].to_list()
        assert rows["probability"].to_list() == pytest.approx(table["probability"].to_list())
        assert rows.columns == ["key", "body", "stars", *ADDED]

    def test_predict_to_a_file_and_as_json(self, cli: Any, fitted: Path) -> None:
        new = b"oven dough bread\nquite unheard of\n"
        assert cli("predict", fitted, "-", "-o", "new.csv", stdin=new).code == 0
        refused(cli("predict", fitted, "-", "-o", "new.csv", stdin=new), "new.csv already exists")
        said = cli("predict", fitted / "model", "-", "--json", stdin=new)
        first, second = json.loads(said.out)["predictions"]
        assert (second["cluster"], second["name"], second["probability"]) == (-1, "", 0.0)
        table = pl.read_csv("new.csv")
        assert table["cluster"].to_list() == [first["cluster"], -1]
        assert first["name"] == table["name"][0]
        refused(cli("predict", fitted, "-", "-o", "new.doc", stdin=new), ".parquet")

    def test_info_and_report(self, cli: Any, fitted: Path) -> None:
        assert "30 texts in" in cli("info", fitted).out
        assert json.loads(cli("info", fitted, "--json").out)["text_column"] == "body"
        assert cli("report", fitted).code == 0
        assert Path("reviews.html").exists()
        refused(cli("report", fitted), "reviews.html already exists")
        assert cli("report", fitted / "model", "--force", "--quiet") == (0, "", "")

    def test_a_model_of_a_newer_version(self, cli: Any, reviews: Path, fitted: Path) -> None:
        config = fitted / "model" / "config.json"
        config.write_text(json.dumps({**json.loads(config.read_text()), "schema": 99}))
        refused(cli("info", fitted), "newer version of coterie", "upgrade coterie")
        refused(cli("predict", fitted, reviews), "newer version of coterie")

    def test_what_is_no_model(self, cli: Any, reviews: Path) -> None:
        refused(cli("info", "nowhere"), "no model folder at nowhere")
        refused(cli("info", "."), "holds no model")
        refused(cli("predict", reviews, reviews), "no model folder")

    def test_a_model_made_in_python(self, cli: Any) -> None:
        import coterie

        coterie.GSDMM(3, n_sweeps=2, random_state=0).fit(texts()).save("plain")
        refused(cli("info", "plain"), "GSDMM", "coterie.load")


def python(*arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, **how
    )


class TestProcess:
    def test_help_is_light(self) -> None:
        code = (
            "import sys\nfrom coterie.cli import main\n"
            "for page in (['--help'], ['--version'], []): main(page)\nprint(*sys.modules)"
        )
        loaded = {name.split(".")[0] for name in python("-c", code).stdout.splitlines()[-1].split()}
        heavy = {"numba", "sklearn", "polars", "numpy", "scipy", "rich", "typer", "click"}
        assert "coterie" in loaded
        assert not loaded & heavy

    def test_help_names_every_command(self, cli: Any) -> None:
        from coterie.cli.app import app

        assert [command.callback.__name__ for command in app.registered_commands] == list(COMMANDS)
        first = cli("--help")
        assert first.code == 0
        for name, about in COMMANDS.items():
            assert name in first.out
            assert about in first.out
            page = cli(name, "--help")
            assert page.code == 0
            assert about.split()[0] in page.out
        assert cli() == (2, first.out, "")

    def test_version(self, cli: Any) -> None:
        import coterie

        assert cli("--version") == (0, f"coterie {coterie.__version__}\n", "")

    def test_completion(self) -> None:
        env = {**os.environ, "_COTERIE_COMPLETE": "complete_bash"}
        env |= {"COMP_WORDS": "coterie ", "COMP_CWORD": "1"}
        code = "import sys; from coterie.cli import main; sys.exit(main([]))"
        assert python("-c", code, env=env).stdout.split() == list(COMMANDS)

    def test_a_reader_that_leaves(self, reviews: Path, tmp_path: Path) -> None:
        """`coterie ... | head -1` says nothing about it."""
        fit = f"{sys.executable} -m coterie fit {reviews} -o - -q --sweeps 2 --embedder none"
        many = [{"body": f"{text} {'x' * 2000}"} for text in texts(3000)]
        write_csv(reviews, many)
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail; {fit} --no-levels | head -c 10"],
            capture_output=True,
            timeout=120,
            cwd=tmp_path,
        )
        assert done.returncode == 141
        assert done.stderr == b""

    def test_a_terminal_without_unicode(self, reviews: Path, tmp_path: Path) -> None:
        env = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = python("-m", "coterie", "fit", str(reviews), *FAST, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    @pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise there")
    def test_ctrl_c_keeps_what_was_found(self, tmp_path: Path) -> None:
        lines = [
            f"{text} {text} word{i % 997} other{i % 499}" for i, text in enumerate(texts(6000))
        ]
        (tmp_path / "many.txt").write_text("\n".join(lines))
        code = (
            "import signal, sys, time\n"
            "from coterie.cli import main\n"
            "from coterie.cli.progress import Stages\n"
            "show = Stages.sweep\n"
            "def sweep(self, event):\n"
            "    show(self, event)\n"
            "    if event.record.sweep > 1:\n"
            "        return\n"
            "    heard, take = [], signal.getsignal(signal.SIGINT)\n"
            "    signal.signal(signal.SIGINT, lambda *what: (take(*what), heard.append(1)))\n"
            "    print('sweep', file=sys.stderr, flush=True)\n"
            "    while not heard:\n"
            "        time.sleep(0.01)\n"
            "Stages.sweep = sweep\n"
            "sys.exit(main(['fit', 'many.txt', '--sweeps', '100000', '--json', *sys.argv[1:]]))"
        )
        started = subprocess.Popen(
            [sys.executable, "-c", code, "--embedder", "none"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert started.stderr is not None
        for line in started.stderr:
            if line == "sweep\n":
                break
        started.send_signal(signal.SIGINT)
        out, _ = started.communicate(timeout=120)
        assert started.returncode == 130
        assert json.loads(out)["reason"].startswith("interrupted")
        assert (tmp_path / "many.coterie" / "report.html").exists()

    def test_ctrl_c_before_anything_was_found(
        self, cli: Any, reviews: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("coterie.text.readers.read", interrupted)
        said = cli("fit", reviews)
        assert said.code == 130
        assert "Nothing was written" in said.err
        assert not Path("reviews.coterie").exists()
