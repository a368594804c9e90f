"""Sentences in the words of the reader: parameters in Python, options in a shell, user data untouched."""

import ast
import copy
import inspect
import json
import pickle
import re
from pathlib import Path
from typing import Any, get_type_hints

import polars as pl
import pytest
from test_cli import FAST, cli, refused, texts  # noqa: F401

import coterie
from coterie import _sentence, errors
from coterie._sentence import example, in_python, join, parameter
from coterie.cli import words
from coterie.cli.words import in_terms_of_options
from coterie.errors import CoterieError, InvalidInput, ModelFileError, Unsupported

PACKAGE = Path(coterie.__file__).parent
TEXTS = texts(30)


class TestSentence:
    def test_it_is_a_string_that_knows_its_names(self) -> None:
        said = "Raise " + parameter("n_clusters", "cluster") + " of n_clusters.csv" + "."
        assert said == "Raise n_clusters of cluster of n_clusters.csv."
        assert (
            said.rendered(lambda name: f"<{name.parameter}>")
            == "Raise <n_clusters> of n_clusters.csv."
        )
        assert said.parameter == "n_clusters"
        assert json.dumps(said) == '"Raise n_clusters of cluster of n_clusters.csv."'
        assert type(f"{said}") is str

    def test_copies_keep_the_names(self) -> None:
        said = "a " + example("min_df", 2) + " b " + in_python("None, or ")
        for other in (
            pickle.loads(pickle.dumps(said)),
            copy.copy(said),
            copy.deepcopy(said),
            _sentence.from_json(json.loads(json.dumps(_sentence.to_json(said)))),
        ):
            assert other == said
            assert other.pieces == said.pieces

    def test_joined(self) -> None:
        said = join(", or ", [in_python("None"), "a number", parameter("text")])
        assert said == "None, or a number, or text"
        assert said.rendered(lambda name: "--text" if name.parameter else "nothing") == (
            "nothing, or a number, or --text"
        )
        assert join(", ", []) == ""

    @pytest.mark.parametrize(
        "saved",
        [3, None, {}, [3], [["a"]], [["a", "b", 1]], [[1, "b", None]], [["a", "b", "c", "d"]]],
    )
    def test_anything_else_is_no_saved_sentence(self, saved: Any) -> None:
        with pytest.raises(ValueError, match="not a sentence"):
            _sentence.from_json(saved)

    def test_adding_something_else_is_an_error(self) -> None:
        with pytest.raises(TypeError):
            parameter("text") + 3
        with pytest.raises(TypeError):
            3 + parameter("text")

    def test_in_terms_of_options(self) -> None:
        said = (
            "Say "
            + example("text")
            + " or "
            + example("min_df", 1)
            + ", not "
            + parameter("X", "fit")
        )
        assert said == "Say text='...' or min_df=1, not X of fit"
        assert in_terms_of_options(said) == "Say --text COLUMN or --min-df 1, not X of fit"
        assert in_terms_of_options("plain min_df") == "plain min_df"


class TestErrors:
    @pytest.mark.parametrize("cls", [CoterieError, InvalidInput, Unsupported, ModelFileError])
    def test_parameter_and_kind(self, cls: Any) -> None:
        error = cls(parameter("alpha", "cluster") + " is odd.")
        assert (str(error), error.parameter, error.kind) == (
            "alpha of cluster is odd.",
            "alpha",
            cls.usual_kind,
        )
        told = cls("It is odd.", parameter="beta", kind="not_allowed")
        again = pickle.loads(pickle.dumps(told))
        for each in (told, again):
            assert (str(each), each.parameter, each.kind) == ("It is odd.", "beta", "not_allowed")
        assert cls("It is odd.").parameter is None

    def test_every_kind_is_documented(self) -> None:
        documented = set(re.findall(r"^(\w+)  +\S", errors.__doc__ or "", re.MULTILINE))
        more = (errors.NoRows, errors.UnknownParameter, errors.Forked)
        kinds = (InvalidInput, Unsupported, ModelFileError, *more)
        used = {cls.usual_kind for cls in kinds}
        for path in PACKAGE.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                if node.func.id in ("InvalidInput", "Unsupported", "ModelFileError"):
                    used |= {ast.literal_eval(k.value) for k in node.keywords if k.arg == "kind"}
        assert used == documented

    def test_nothing_searches_in_sentences(self) -> None:
        """What a program must know is in `kind`, `parameter` and `stop`."""
        search = re.compile(r"str\(error\)\.(startswith|find)|reason\.(split|partition|startswith)")
        for path in PACKAGE.rglob("*.py"):
            assert not search.search(path.read_text(encoding="utf-8")), path


# ---------------------------------------------------------------- at Python's door
WRONG = {
    "text": ("nobody", "no_such_column"),
    "id": ("nobody", "no_such_column"),
    "seeds": ("missing.yaml", "invalid"),
    "seed_weight": (2.0, "invalid"),
    "n_clusters": (0, "not_allowed"),
    "max_clusters": (0, "not_allowed"),
    "alpha": (-1.0, "not_allowed"),
    "beta": (0.0, "not_allowed"),
    "n_sweeps": (0, "not_allowed"),
    "language": ("klingon", "invalid"),
    "min_df": (-3, "not_allowed"),
    "max_df": (-3, "not_allowed"),
    "encoding": ("no-such-encoding", "invalid"),
    "random_state": (-1, "not_allowed"),
    "max_time": (0.0, "not_allowed"),
}
OPTION = {name: option for name, (option, _) in words._OPTIONS.items()}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    pl.DataFrame({"body": TEXTS, "key": range(30)}).write_csv(path)
    return path


@pytest.mark.parametrize("name", WRONG)
def test_an_error_says_which_parameter_it_is(name: str, table: Path) -> None:
    value, kind = WRONG[name]
    with pytest.raises(InvalidInput) as caught:
        coterie.cluster(table, **{"text": "body", name: value})
    assert caught.value.parameter == name
    assert caught.value.kind == kind
    assert name in str(caught.value)
    assert OPTION[name] not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in WRONG if name != "max_time"])
def test_the_command_line_says_which_option_it_is(name: str, table: Path, cli: Any) -> None:  # noqa: F811
    value, _ = WRONG[name]
    option = OPTION[name]
    if name == "seeds":  # the command line looks for the file itself
        Path("topics.yaml").write_text("[]")
        value = "topics.yaml"
    said = cli("fit", table, *(() if name == "text" else ("--text", "body")), f"{option}={value}")
    refused(said)
    if name != "seeds":
        assert option in said.err
    assert not re.search(rf"(?<!-){name}\b( of|=)", said.err)
    assert "None" not in said.err or name == "language"


def test_every_option_of_a_parameter_is_there() -> None:
    from coterie.cli.app import fit

    flags = {
        option
        for name, hint in get_type_hints(fit, include_extras=True).items()
        for info in getattr(hint, "__metadata__", ())
        for option in (info.default, f"--{name}")  # typer keeps the first name as the default
        if isinstance(option, str)
    }
    flags = {flag.replace("_", "-") for flag in flags}
    takes = (coterie.cluster, coterie.Clustering.report)
    parameters = {name for of in takes for name in inspect.signature(of).parameters}
    for name, (option, _) in words._OPTIONS.items():
        if not name.endswith("()"):
            assert name in parameters or hasattr(coterie.Clustering, name)
            assert option in flags


# ---------------------------------------------------------------- user data
USERS = [
    "my_min_df",
    "max_df",
    "text='...'",
    "n_clusters of cluster must",
    "must be None, or",
    "seeds of cluster",
    "leave encoding out",
    "encoding is 'x'",
    "raise max_clusters",
    "pass seeds= too",
    "(id=...)",
]


@pytest.mark.parametrize("word", USERS)
class TestUsersWordsStay:
    def test_names_of_files(self, word: str, cli: Any) -> None:  # noqa: F811
        refused(cli("fit", f"{word}.csv"), f"'{word}.csv'" if "'" not in word else word)
        Path(f"{word}.csv").write_bytes(b"body\n\xff\xfe caf\xe9\n")
        refused(
            cli("fit", f"{word}.csv", "--encoding", "ascii"), f"{word}.csv", "Leave out --encoding"
        )

    def test_names_of_columns(self, word: str, cli: Any) -> None:  # noqa: F811
        pl.DataFrame({word: range(30), "b": range(30)}).write_csv("t.csv")
        refused(cli("fit", "t.csv"), word)
        refused(cli("fit", "t.csv", "--text", "nobody"), word, "(--text)")
        refused(cli("fit", "t.csv", "--text", word), word, "with --text COLUMN")

    def test_cells(self, word: str, cli: Any) -> None:  # noqa: F811
        pl.DataFrame({"a": [f"{word} {t}" for t in TEXTS], "b": TEXTS}).write_csv("t.csv")
        refused(cli("fit", "t.csv"), word[:20], "--text COLUMN")

    def test_values(self, word: str, cli: Any) -> None:  # noqa: F811
        Path("t.txt").write_text("\n".join(TEXTS))
        refused(cli("fit", "t.txt", "--min-df", word), word)
        refused(cli("fit", "t.txt", "--encoding", word), word, "--encoding is")

    def test_notes(self, word: str, cli: Any) -> None:  # noqa: F811
        pl.DataFrame({word: [1] * 30, "b": TEXTS}).write_csv("t.csv")
        said = cli("fit", "t.csv", *FAST, "--json", "--text", "b", "--id", word)
        assert said.code == 0, said.err
        assert any(f"the column {word!r}" in note for note in json.loads(said.out)["notes"])


def test_notes_are_in_the_words_of_their_reader_even_when_saved(cli: Any) -> None:  # noqa: F811
    Path("t.txt").write_text("\n".join(TEXTS))
    said = cli("fit", "t.txt", "--max-clusters", "2", *FAST, "--json")
    assert said.code == 0, said.err
    wanted = [note for note in json.loads(said.out)["notes"] if "in use" in note]
    assert wanted[0].endswith("raise --max-clusters.")
    assert wanted[0] in json.loads(cli("info", "t.coterie", "--json").out)["notes"]
    opened = coterie.load("t.coterie")
    assert any(note.endswith("raise max_clusters.") for note in opened.notes)
    assert "raise max_clusters." in opened.summary()
    opened.save("again")
    assert wanted[0] in json.loads(cli("info", "again", "--json").out)["notes"]


def test_a_damaged_note_is_a_damaged_model(tmp_path: Path) -> None:
    coterie.cluster(TEXTS, max_clusters=2).save(tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text())
    config["fitted"]["notes"] = [{"a": 1}]
    path.write_text(json.dumps(config))
    with pytest.raises(ModelFileError, match=r"damaged.*\.$"):
        coterie.load(tmp_path / "m")


# ---------------------------------------------------------------- why a run ended
def test_a_stop_has_a_kind() -> None:
    whole = coterie.cluster(TEXTS, n_sweeps=3)
    settled = coterie.cluster(TEXTS, n_sweeps=200)
    told = coterie.cluster(TEXTS, callbacks=[lambda event: event.record.sweep == 2])
    late = coterie.cluster(TEXTS, max_time=1e-9)
    kinds = [found.stop.kind for found in (whole, settled, told, late)]
    assert kinds == ["sweeps", "settled", "callback", "time"]
    why = [
        next(s.why for s in f.settings if s.name == "sweeps") for f in (whole, settled, told, late)
    ]
    for sentence, part in zip(
        why, ("as many as allowed", "nothing improved", "stopped by a callback", "time limit"),
        strict=True,
    ):  # fmt: skip
        assert part in sentence


# ---------------------------------------------------------------- what `coterie fit` wrote
def test_load_opens_what_fit_wrote(cli: Any) -> None:  # noqa: F811
    Path("t.txt").write_text("\n".join(TEXTS))
    assert cli("fit", "t.txt", *FAST).code == 0
    around, itself = coterie.load("t.coterie"), coterie.load(Path("t.coterie") / "model")
    assert (around.labels == itself.labels).all()
    assert around.rows.texts == TEXTS
    seeds = coterie.cluster(TEXTS, seeds="t.coterie")
    assert seeds.model.seeds is not None
    for missing in ("nothing", "t.txt", "a\0b"):
        with pytest.raises(CoterieError, match=r"\.$"):
            coterie.load(missing)


def test_load_prefers_the_folder_itself(tmp_path: Path) -> None:
    coterie.GSDMM(3, random_state=1).fit(TEXTS).save(tmp_path / "m")
    coterie.cluster(TEXTS).save(tmp_path / "m" / "model")
    assert isinstance(coterie.load(tmp_path / "m"), coterie.GSDMM)


# ---------------------------------------------------------------- at the estimators' door
AT_FIT: dict[str, Any] = {
    "X": (lambda: coterie.GSDMM(3).fit(5)),
    "vocabulary": (lambda: coterie.GSDMM(3).fit([[1, 2]], vocabulary="ab")),
    "sample_weight": (lambda: coterie.GSDMM(3).fit(TEXTS, sample_weight=[1])),
    "init": (lambda: coterie.GSDMM(3, init=9).fit(TEXTS)),
    "beta": (lambda: coterie.GSDMM(3, beta=[0.1]).fit(TEXTS)),
    "seeds": (lambda: coterie.TSDPMM(seeds={}).fit(TEXTS)),
    "seed_weight": (lambda: coterie.TSDPMM(seeds={"a": "bread"}, seed_weight=[1, 2]).fit(TEXTS)),
    "word_vectors": (lambda: coterie.GPUDMM(3, word_vectors="missing.txt").fit(TEXTS)),
    "n_sweeps": (lambda: coterie.GSDMM(3, n_sweeps=0).fit(TEXTS)),
    "rows": (lambda: coterie.GSDMM(3, random_state=1).fit(TEXTS).predict(TEXTS, rows=[0])),
}


@pytest.mark.parametrize("name", AT_FIT)
def test_an_estimators_error_says_which_parameter_it_is(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        AT_FIT[name]()
    assert caught.value.parameter == name


# ---------------------------------------------------------------- parameters set after a fit
@pytest.mark.parametrize("wrong", ["x", 0, -2, 1.5, True, [1]], ids=str)
def test_what_predict_reads_is_checked_there(wrong: Any) -> None:
    model = coterie.GSDMM(3, random_state=1).fit(TEXTS)
    model.n_jobs = wrong
    doors = (
        model.predict,
        model.predict_proba,
        model.transform,
        model.score,
        model.perplexity,
        lambda X: model.outlier_scores_,
        lambda X: model.representative_docs(),
        lambda X: model.outliers(by="score"),
    )
    for door in doors:
        with pytest.raises(InvalidInput, match="n_jobs of GSDMM must be") as caught:
            door(TEXTS)
        assert caught.value.parameter == "n_jobs"
    model.n_jobs = 2
    assert model.predict(TEXTS).shape == (30,)
