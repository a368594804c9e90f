"""Where the command line writes: nothing of others is replaced, and no result is thrown away."""

import json
import logging
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_cli import FAST, Said, refused, texts, write_csv

from coterie import fitting, grouping, loading
from coterie.cli import main, places
from coterie.clustering import Clustering
from coterie.demo import make_messages
from coterie.text import readers

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and signals of POSIX")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Iterator[Any]:
    """Run a command in a folder of its own, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: Any) -> Said:
        capfd.readouterr()
        said = Said(main([str(argument) for argument in arguments]), *capfd.readouterr())
        assert "Traceback" not in said.err
        return said

    yield run
    logging.getLogger("coterie").setLevel(logging.NOTSET)


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "reviews.csv", [{"body": text} for text in texts()])


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let something happen after the work has begun, and before anything is written."""

    def arrange(act: Any) -> None:
        plain = grouping.cluster

        def cluster(*data: Any, **how: Any) -> Any:
            monkeypatch.setattr("coterie.grouping.cluster", plain)  # once
            act()
            return plain(*data, **how)

        monkeypatch.setattr("coterie.grouping.cluster", cluster)

    return arrange


def intrude(path: str) -> None:
    """Somebody else's file, or folder of files."""
    at = Path(path)
    if at.suffix in (".csv", ".html"):
        at.write_text("years of work")
    else:
        at.mkdir(exist_ok=True)
        (at / "thesis.txt").write_text("years of work")


def intact(path: str) -> bool:
    at = Path(path)
    return (at / "thesis.txt" if at.is_dir() else at).read_text() == "years of work"


class TestMeanwhile:
    @pytest.mark.parametrize(
        ("options", "taken", "instead"),
        [
            ([], "reviews.coterie", "reviews-2.coterie"),
            (["-o", "deep/out"], "deep/out", "deep/out-2"),
            (["-o", "t.csv"], "t.csv", "t-2.csv"),
            (["--model", "kept"], "kept", "kept-2"),
            (["--report", "page.html"], "page.html", "page-2.html"),
            (["--force"], "reviews.coterie", "reviews-2.coterie"),
        ],
        ids=str,
    )
    def test_what_appears_stays_and_the_result_goes_beside_it(
        self,
        cli: Any,
        reviews: Path,
        meanwhile: Any,
        options: list[str],
        taken: str,
        instead: str,
    ) -> None:
        meanwhile(lambda: intrude(taken))
        said = cli("fit", reviews, *options, "--json", *FAST)
        assert said.code == 3, said.err
        sentence = said.err.splitlines()[-1]
        assert f"{taken} was created or changed while coterie was working" in sentence
        assert f"the result was written to {instead} instead" in sentence
        assert intact(taken)
        paths = json.loads(said.out)["paths"]
        assert any(Path(instead) in (Path(p), *Path(p).parents) for p in paths.values())
        assert all(Path(path).exists() for path in paths.values())
        if "folder" in paths:
            assert json.loads(Path(paths["folder"], "run.json").read_text())["paths"] == paths
        assert not list(Path().rglob(".*")), "something was left behind"

    def test_a_file_put_into_the_result_that_is_replaced(
        self,
        cli: Any,
        reviews: Path,
        meanwhile: Any,
    ) -> None:
        assert cli("fit", reviews, *FAST).code == 0
        meanwhile(lambda: intrude("reviews.coterie"))
        said = cli("fit", reviews, "--force", *FAST)
        assert said.code == 3
        assert "thesis.txt" in said.err
        assert intact("reviews.coterie")
        assert cli("info", "reviews-2.coterie").code == 0

    def test_free_names_are_counted_up(
        self,
        cli: Any,
        reviews: Path,
        meanwhile: Any,
    ) -> None:
        def act() -> None:
            intrude("t.csv")
            intrude("t-2.csv")

        meanwhile(act)
        assert cli("fit", reviews, "-o", "t.csv", *FAST).code == 3
        assert pl.read_csv("t-3.csv").height == 30
        assert intact("t-2.csv")

    @pytest.mark.parametrize("out", ["reviews.coterie", "t.csv"])
    def test_a_second_run_is_told(
        self,
        cli: Any,
        reviews: Path,
        meanwhile: Any,
        out: str,
        capfd: Any,
    ) -> None:
        second: list[Said] = []

        def act() -> None:
            code = main(["fit", str(reviews), "-o", out, *FAST])
            second.append(Said(code, *capfd.readouterr()))

        meanwhile(act)
        assert cli("fit", reviews, "-o", out, *FAST).code == 0
        assert second[0].code == 1
        assert second[0].err.startswith(f"Error: {out} is in use by another run of coterie")
        assert sorted(path.name for path in Path().iterdir()) == sorted([out, "reviews.csv"])

    def test_predict_and_report(
        self,
        cli: Any,
        reviews: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        assert cli("fit", reviews, *FAST).code == 0
        for path, command in (
            ("new.csv", ["predict", "reviews.coterie", reviews, "-o", "new.csv"]),
            ("page.html", ["report", "reviews.coterie", "-o", "page.html"]),
        ):
            plain = loading.load

            def load(model: Any, _: Any = None, path: str = path, plain: Any = plain) -> Any:
                intrude(path)
                return plain(model)

            with monkeypatch.context() as patch:
                patch.setattr(loading, "load", load)
                said = cli(*command)
            assert said.code == 3
            assert intact(path)
            assert Path(path.replace(".", "-2.")).stat().st_size > 100


class TestPlaces:
    @pytest.mark.parametrize("inside", ["model/thesis.txt", "thesis.txt"])
    def test_force_looks_into_the_model_too(
        self,
        cli: Any,
        reviews: Path,
        inside: str,
    ) -> None:
        assert cli("fit", reviews, *FAST).code == 0
        Path("reviews.coterie", inside).write_text("years of work")
        refused(cli("fit", reviews, "--force"), "--force does not replace it")
        assert Path("reviews.coterie", inside).exists()

    @pytest.mark.parametrize(
        "options",
        [
            ["-o", "out", "--report", "out/page.html"],
            ["-o", "out", "--model", "out"],
            ["-o", "m/t.csv", "--model", "m"],
            ["-o", "x.csv", "--report", "./x.csv"],
        ],
        ids=" ".join,
    )
    def test_outputs_must_lie_apart(
        self,
        cli: Any,
        reviews: Path,
        options: list[str],
    ) -> None:
        refused(cli("fit", reviews, *options), "Choose")
        assert [path.name for path in Path().iterdir()] == ["reviews.csv"]

    def test_nothing_is_left_of_a_run_that_fails(
        self,
        cli: Any,
        reviews: Path,
    ) -> None:
        refused(cli("fit", reviews, "-o", "a/b/out", "--text", "nothing"))
        assert [path.name for path in Path().iterdir()] == ["reviews.csv"]

    @POSIX
    def test_links_stay_links(self, cli: Any, reviews: Path) -> None:
        Path("far").mkdir()
        for name in ("out", "t.csv"):
            Path(name).symlink_to(f"far/{name}")
            assert cli("fit", reviews, "-o", name, *FAST).code == 0
            assert cli("fit", reviews, "-o", name, "--force", *FAST).code == 0
            assert Path(name).is_symlink()
        assert sorted(path.name for path in Path("far").iterdir()) == ["out", "t.csv"]
        assert cli("info", "out").code == 0

    @POSIX
    def test_modes_follow_the_umask(self, cli: Any, reviews: Path) -> None:
        before = os.umask(0o027)
        try:
            assert cli("fit", reviews, "--model", "kept", *FAST).code == 0
            assert cli("fit", reviews, "-o", "t.csv", *FAST).code == 0
        finally:
            os.umask(before)
        for path in (Path("reviews.coterie"), Path("kept"), Path("t.csv")):
            for at in (path, *path.rglob("*")):
                expected = 0o750 if at.is_dir() else 0o640
                assert stat.S_IMODE(at.stat().st_mode) == expected, at

    @POSIX
    def test_no_device_is_replaced(self, cli: Any, reviews: Path) -> None:
        os.mkfifo("pipe.csv")
        refused(cli("fit", reviews, "-o", "pipe.csv", "--force"), "not a regular file")
        assert stat.S_ISFIFO(os.lstat("pipe.csv").st_mode)


def interrupting(method: Any, times: int) -> Any:
    """A method during which Ctrl-C is pressed."""

    def pressed(self: Any, *args: Any, **how: Any) -> Any:
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
        return method(self, *args, **how)

    return pressed


@POSIX
class TestInterrupts:
    @pytest.mark.parametrize("step", ["report", "save"])
    @pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"]], ids=str)
    def test_once_while_writing_lets_it_finish(
        self,
        cli: Any,
        reviews: Path,
        step: str,
        options: list[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(Clustering, step, interrupting(getattr(Clustering, step), 1))
        code, out, err = cli("fit", reviews, *options, *FAST)
        assert code == 130
        assert "press Ctrl-C again to stop" in err
        assert err.endswith("all results were written to reviews.coterie first.\n")
        assert cli("info", "reviews.coterie").code == 0
        if "--json" in options:
            assert json.loads(out)["n_texts"] == 30

    @pytest.mark.parametrize("step", ["report", "save"])
    def test_twice_stops(
        self,
        cli: Any,
        reviews: Path,
        step: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(Clustering, step, interrupting(getattr(Clustering, step), 2))
        said = cli("fit", reviews, *FAST)
        assert said.code == 130
        assert said.err.endswith("Interrupted while writing. Nothing was written.\n")
        assert [path.name for path in Path().iterdir()] == ["reviews.csv"]

    def test_twice_tells_what_was_written_by_then(
        self,
        cli: Any,
        reviews: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(Clustering, "save", interrupting(Clustering.save, 2))
        said = cli("fit", reviews, "--report", "page.html", *FAST)
        assert said.code == 130
        assert "was already written to page.html, but not to reviews.coterie." in said.err
        assert Path("page.html").exists()

    def test_while_settling(
        self,
        cli: Any,
        reviews: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """After the last sweep the result is there, though `cluster` has not returned yet."""
        plain = fitting._settled
        pressed = interrupting(lambda _, *args: plain(*args), 1)
        monkeypatch.setattr("coterie.fitting._settled", lambda *args: pressed(None, *args))
        assert cli("fit", reviews, *FAST).code == 130
        assert cli("info", "reviews.coterie").code == 0

    def test_while_reading_nothing_was_found(
        self,
        cli: Any,
        reviews: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        read = readers.read
        pressed = interrupting(lambda _, *args, **how: read(*args, **how), 1)
        monkeypatch.setattr("coterie.text.readers.read", lambda *a, **how: pressed(None, *a, **how))
        said = cli("fit", reviews, *FAST)
        assert said.code == 130
        assert "before any clusters were found. Nothing was written" in said.err
        assert [path.name for path in Path().iterdir()] == ["reviews.csv"]

    def test_predict_and_report_finish_too(
        self,
        cli: Any,
        reviews: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        assert cli("fit", reviews, *FAST).code == 0
        monkeypatch.setattr(Clustering, "report", interrupting(Clustering.report, 1))
        assert cli("report", "reviews.coterie").code == 130
        assert Path("reviews.html").stat().st_size > 1000
        plain = places.Place.write
        monkeypatch.setattr(places.Place, "write", interrupting(plain, 1))
        assert cli("predict", "reviews.coterie", reviews, "-o", "new.csv").code == 130
        assert pl.read_csv("new.csv").height == 30


def test_a_checkpoint_with_all_sweeps_gives_the_result_again(cli: Any, reviews: Path) -> None:
    """There is no sweep left to do, which is no interrupt."""
    for out, saved in (
        ("one.csv", "run.ckpt"),
        ("two.csv", "run.ckpt"),
        ("3.csv", "no/../run.ckpt"),
    ):
        assert cli("fit", reviews, "-o", out, "--checkpoint", saved, *FAST).code == 0
        assert Path("one.csv").read_bytes() == Path(out).read_bytes()


def test_a_result_set_aside_by_a_killed_run_is_found(cli: Any, reviews: Path) -> None:
    """Where two renames are needed, a kill may fall between them."""
    assert cli("fit", reviews, *FAST).code == 0
    aside = Path(".reviews.coterie.coterie-0123456789abcdef.tmp")
    for command in (["info"], ["predict", "reviews.csv"], ["report"]):
        aside.mkdir()
        Path("reviews.coterie").rename(aside / "old")
        (aside / "new").mkdir()
        assert cli(command[0], "reviews.coterie", *command[1:]).code == 0
        assert Path("reviews.coterie", "run.json").exists()
        assert not aside.exists()


@pytest.mark.parametrize("mine", ["messages.csv", "thesis.txt"])
def test_the_demo_replaces_nothing_but_a_demo(mine: str, tmp_path: Path) -> None:
    (tmp_path / mine).write_text("years of work")
    assert main(["demo", "-o", str(tmp_path)]) == 1
    assert [path.name for path in tmp_path.iterdir()] == [mine]
    assert (tmp_path / mine).read_text() == "years of work"


def test_the_demo_runs_twice_in_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.demo.make_messages", lambda n: make_messages(n // 10))
    for _ in range(2):
        assert main(["demo", "-o", str(tmp_path / "demo")]) == 0
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "messages.csv",
        "model",
        "report.html",
    ]


class TestOwnFolders:
    """A folder of texts in which results and models lie, too."""

    @pytest.mark.parametrize(
        "made",
        [
            ["fit", ".", "-o", "result"],
            ["fit", "."],
            ["fit", "a.txt", "--model", "deep/kept", "-o", "t.csv"],
            ["fit", "../reviews.csv", "--per-group", "--format", "tsv", "-o", "deep/er/result"],
        ],
        ids=" ".join,
    )
    def test_what_coterie_wrote_is_not_read(
        self, cli: Any, reviews: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        corpus = Path("corpus")
        corpus.mkdir()
        for name in "abc":
            (corpus / f"{name}.txt").write_text("\n".join(texts()))
        monkeypatch.chdir(corpus)
        assert cli(*made, *FAST).code == 0
        said = cli("fit", ".", "-o", "../again", *FAST)
        assert said.code == 0, said.err
        assert pl.read_csv("../again/table.csv")["file"].to_list() == ["a.txt", "b.txt", "c.txt"]
        assert "Not read, since coterie wrote it: " in said.out
        assert cli(*made, "--force", *FAST).code == 0

    def test_what_a_killed_run_left(self, cli: Any, reviews: Path) -> None:
        model = Path("corpus/.result.coterie-0123456789abcdef.tmp/new/model")
        model.mkdir(parents=True)
        (model / "vocabulary.txt").write_text("bread\n")
        Path("corpus/a.txt").write_text("bread flour")
        Path("corpus/b.txt").write_text("flour yeast")
        assert cli("fit", "corpus", "-o", "t.csv", *FAST).code == 0
        assert pl.read_csv("t.csv")["file"].to_list() == ["a.txt", "b.txt"]

    def test_a_result_has_no_texts(self, cli: Any, reviews: Path) -> None:
        assert cli("fit", reviews, *FAST).code == 0
        for folder in ("reviews.coterie", "reviews.coterie/model"):
            refused(cli("fit", folder, "-o", "t.csv"), "no .txt files beside what coterie wrote")

    @pytest.mark.parametrize("mine", ["{}", "[", '{"made_by": "me", "schema": 1}'])
    def test_folders_of_others_are_read(self, cli: Any, reviews: Path, mine: str) -> None:
        Path("corpus/mine").mkdir(parents=True)
        for name in ("run.json", "config.json"):
            Path("corpus/mine", name).write_text(mine)
        for name in ("a.txt", "mine/b.txt"):
            Path("corpus", name).write_text("\n".join(texts()))
        said = cli("fit", "corpus", "-o", "out", *FAST)
        assert "Not read" not in said.out
        assert pl.read_csv("out/table.csv")["file"].to_list() == ["a.txt", "mine/b.txt"]
