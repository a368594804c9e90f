"""Runs that nobody watches: records, JSON, exit codes, drift, and what a model was made from."""

import json
import logging
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_cli import FAST, cli, reviews, texts  # noqa: F401

import coterie
from coterie import drift
from coterie.backends import cpu
from coterie.cli import exits

TEXTS = texts(60)


@pytest.fixture(scope="module")
def groups() -> Any:
    return coterie.cluster(TEXTS, n_sweeps=6)


# ---------------------------------------------------------------- records
def test_a_fit_is_recorded(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "coterie"):
        found = coterie.cluster(TEXTS, n_sweeps=3)
    by_level = {r.levelname: [] for r in caplog.records} | {}
    for record in caplog.records:
        by_level[record.levelname].append(record.getMessage())
    assert any(said.startswith("60 texts in") for said in by_level["INFO"])
    assert set(found.notes) <= set(by_level["DEBUG"])


def test_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    coterie.cluster(TEXTS, n_sweeps=3)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("folder", "said"), [(None, "NUMBA_CACHE_DIR"), ("here", "once")])
def test_a_cache_that_cannot_be_kept_is_said(
    folder: str | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    index = None if folder is None else tmp_path / folder / "index"
    kept = SimpleNamespace(_cache_file=SimpleNamespace(_index_path=index))
    sweep = SimpleNamespace(signatures=[], _cache=kept)
    monkeypatch.setattr(cpu, "import_module", lambda name: SimpleNamespace(sweep=sweep))
    with caplog.at_level(logging.WARNING, "coterie"):
        cpu.announce_compilation("gibbs")
    assert said in caplog.text


# ---------------------------------------------------------------- JSON and exit codes
def test_settings_in_json_are_numbers(cli: Any, reviews: Path) -> None:  # noqa: F811
    facts = json.loads(cli("fit", reviews, "--json", *FAST).out)
    values = {setting["name"]: setting["value"] for setting in facts["settings"]}
    assert values["alpha"] == 0.1
    assert isinstance(values["sweeps"], int)
    assert isinstance(values["beta"], float | int)


@pytest.mark.parametrize(
    ("arguments", "kind", "parameter"),
    [
        (["fit", "nowhere.csv"], "invalid", None),
        (["fit", "reviews.csv", "--alpha", "-1"], "not_allowed", "alpha"),
        (["fit", "reviews.csv", "--text", "nobody"], "no_such_column", "text"),
        (["info", "nowhere"], "model_file", None),
        (["predict", "nowhere", "reviews.csv"], "model_file", None),
    ],
    ids=str,
)
def test_errors_are_json_too(
    cli: Any,  # noqa: F811
    reviews: Path,  # noqa: F811
    arguments: list[str],
    kind: str,
    parameter: str | None,
) -> None:
    said = cli(*arguments, "--json")
    assert said.code == 1
    error = json.loads(said.out)["error"]
    assert (error["kind"], error["parameter"], error["exit_code"]) == (kind, parameter, 1)
    assert f"Error: {error['message']}" in said.err


def test_the_exit_codes_are_documented() -> None:
    page = (Path(__file__).parents[1] / "docs/howto/command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\d+)` \|", page, re.MULTILINE)) == {str(c) for c in exits.MEANING}


# ---------------------------------------------------------------- drift
def test_the_texts_of_the_fit_do_not_drift(groups: Any) -> None:
    found = groups.drift(TEXTS)
    assert not found.has_drifted
    assert found.outliers <= found.outliers_in_fit + 0.05
    assert str(found).startswith("No drift: of 60 texts, 0.0% have no known word")


def test_unknown_words_are_drift(groups: Any) -> None:
    found = groups.drift(TEXTS[:30] + ["zebra lion giraffe"] * 10)
    assert found.has_drifted
    assert found.without_known_words == 0.25
    assert "Fit again" in str(found)


def test_strange_mixtures_are_drift(groups: Any) -> None:
    labels, scores = groups.labels, groups.outlier_score
    assert drift.measure(groups, labels, scores + 100).has_drifted
    assert not drift.measure(groups, labels, scores - 100).has_drifted
    assert not drift.measure(groups, labels[:0], scores[:0]).has_drifted


def test_a_few_odd_texts_are_no_drift(groups: Any) -> None:
    labels = np.where(np.arange(60) < 2, -1, groups.labels)
    assert not drift.measure(groups, labels, groups.outlier_score).has_drifted


def test_fail_if_drift(cli: Any, reviews: Path) -> None:  # noqa: F811
    assert cli("fit", reviews, "-o", "m", *FAST).code == 0
    said = cli("predict", "m", reviews, "-o", "a.csv", "--fail-if-drift")
    assert said.code == 0
    assert "No drift" in said.err
    Path("new.csv").write_text("body\n" + "zebra lion\n" * 40, encoding="utf-8")
    said = cli("predict", "m", "new.csv", "-o", "b.csv")
    assert said.code == 0
    assert "Drift: of 40 texts, 100.0%" in said.err
    said = cli("predict", "m", "new.csv", "-o", "c.csv", "--fail-if-drift", "--json")
    assert said.code == exits.DRIFTED
    assert json.loads(said.out)["drift"]["has_drifted"]
    assert Path("c.csv").exists()


# ---------------------------------------------------------------- what the model was made from
def test_time_and_fingerprint_are_saved(groups: Any, tmp_path: Path) -> None:
    groups.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert again.created == groups.created
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", again.created)
    assert again.fingerprint == groups.fingerprint
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    assert config["fitted"]["fingerprint"] == groups.fingerprint


def test_the_fingerprint_is_that_of_the_texts(groups: Any) -> None:
    other = coterie.cluster([*TEXTS[:-1], "bread flour!"], n_sweeps=2)
    turned = coterie.cluster(TEXTS[::-1], n_sweeps=2)
    assert len({groups.fingerprint, other.fingerprint, turned.fingerprint}) == 3
    assert coterie.cluster(TEXTS, n_sweeps=1).fingerprint == groups.fingerprint


def test_load_takes_what_fit_wrote(cli: Any, reviews: Path) -> None:  # noqa: F811
    assert cli("fit", reviews, *FAST).code == 0
    assert coterie.load("reviews.coterie").names == coterie.load("reviews.coterie/model").names
    assert "fingerprint" in cli("info", "reviews.coterie").out


def test_a_loaded_model_scores_its_own_texts_no_second_time(
    groups: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    monkeypatch.setattr("coterie.unusual.of_fit", None)
    np.testing.assert_array_equal(again.outlier_score, groups.outlier_score)
    monkeypatch.undo()
    assert again.drift(TEXTS) == groups.drift(TEXTS)
