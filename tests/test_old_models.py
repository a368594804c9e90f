"""Models of every release, kept in tests/models by tools/keep_model.py, open and predict as they did."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_io import forge

import coterie
from coterie.cli import main
from coterie.errors import ModelFileError

MODELS = Path(__file__).resolve().parent / "models"
KEPT = sorted(path.parent for path in MODELS.glob("*/*/config.json"))


def expected(folder: Path) -> tuple[list[str], dict[str, Any]]:
    """The new texts, and what this model found and predicted when it was saved."""
    said = json.loads((folder.parent / "expected.json").read_text(encoding="utf-8"))
    return said["new"], said["models"][folder.name]


@pytest.mark.parametrize("folder", KEPT, ids=lambda path: path.relative_to(MODELS).as_posix())
def test_it_opens_and_predicts(folder: Path, tmp_path: Path) -> None:
    new, then = expected(folder)
    model: Any = coterie.load(folder)
    if not isinstance(model, coterie.Clustering):
        assert model.labels_.tolist() == then["labels"]
        assert model.predict([text.split() for text in new]).tolist() == then["predicted"]
        return
    assert model.labels.tolist() == then["labels"]
    assert model.predict(new).tolist() == then["predicted"]
    assert list(model.names) == then["names"]
    model.report(tmp_path / "page.html")
    model.save(tmp_path / "again")
    assert coterie.load(tmp_path / "again").predict(new).tolist() == then["predicted"]
    (tmp_path / "new.txt").write_text("\n".join(new))
    assert (
        main(["predict", str(folder), str(tmp_path / "new.txt"), "-o", str(tmp_path / "t.csv")])
        == 0
    )


def test_each_version_is_kept() -> None:
    """Run tools/keep_model.py when the version changes, and keep the folders of the others."""
    assert {path.parent.name for path in KEPT} >= {"0.1.0", coterie.__version__}


@pytest.mark.parametrize("version", ["0.0.9", "9.0"])
@pytest.mark.parametrize("folder", KEPT, ids=lambda path: path.relative_to(MODELS).as_posix())
def test_what_does_not_open_names_the_version(folder: Path, version: str, tmp_path: Path) -> None:
    """One sentence says what is wrong, another one which version wrote it."""
    model = tmp_path / "model"
    for change in (
        {"schema": 2},
        {"urn": {}},
        {"fitted": {}},
        {"estimator": "LDA"},
        {"files": {"trace.csv": "0"}},
    ):
        shutil.copytree(folder, model)
        forge(model, lambda config, to=change: config.update(to, version=version))
        with pytest.raises(ModelFileError) as caught:
            coterie.load(model)
        assert version in str(caught.value)
        shutil.rmtree(model)
