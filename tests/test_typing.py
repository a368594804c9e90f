"""What type checkers say of programs that load models, and that what they believe is true."""

import subprocess
import sys
from pathlib import Path

import pytest

import coterie
from coterie.errors import InvalidInput

PROGRAM = """
from collections.abc import Sequence
from pathlib import Path

import coterie


def names(path: Path) -> list[str]:
    groups = coterie.load(path)
    found: list[str] = groups.names
    return found


def shape(path: str) -> tuple[int, ...]:
    model: coterie.GSDMM = coterie.load(path, embedder="none")
    return model.labels_.shape


def sort(path: str, texts: Sequence[str]) -> list[str]:
    groups = coterie.load(path, expect=coterie.Clustering)
    reveal_type(groups)
    groups.write("table.csv")
    return [groups.names[k] for k in groups.predict(texts).tolist() if k >= 0]


reveal_type(coterie.load("model", None, expect=coterie.GSDMM))
reveal_type(coterie.cluster(["a text"]))
coterie.load("model", expect=coterie.Clustering).labels_  # only estimators have these
"""


@pytest.mark.slow
def test_load_and_cluster_have_types_that_can_be_used(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is in the extra dev")
    (tmp_path / "program.py").write_text(PROGRAM)
    cache = Path(__file__).parents[1] / ".mypy_cache"  # apart from that of `make check`
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"]
    done = subprocess.run(
        [*command, f"--cache-dir={cache / 'of-tests'}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    revealed = [line for line in done.stdout.splitlines() if "note: Revealed" in line]
    kinds = ("clustering.Clustering", "gsdmm.GSDMM", "clustering.Clustering")
    for line, kind in zip(revealed, kinds, strict=True):
        assert line.endswith(f'{kind}"'), done.stdout
    (error,) = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert '"Clustering" has no attribute "labels_"' in error


def test_what_is_expected_is_what_comes_back(tmp_path: Path) -> None:
    texts = ["red apple pie", "blue sea ship"] * 3
    coterie.GSDMM(2, random_state=0, n_sweeps=2).fit(texts).save(tmp_path / "GSDMM")
    coterie.cluster(texts, levels=False, embedder="none").save(tmp_path / "Clustering")
    for kind in (coterie.GSDMM, coterie.Clustering):
        folder = tmp_path / kind.__name__
        assert isinstance(coterie.load(folder), kind)
        assert isinstance(coterie.load(folder, expect=kind), kind)
        for other in {coterie.GSDMM, coterie.XDMM, coterie.Clustering} - {kind}:
            with pytest.raises(
                InvalidInput, match=f"holds a {kind.__name__}, not the {other.__name__}"
            ):
                coterie.load(folder, expect=other)
    for odd in (dict, "GSDMM", [coterie.GSDMM]):
        with pytest.raises(InvalidInput, match="expect of load must be Clustering, GSDMM"):
            coterie.load(folder, expect=odd)  # type: ignore[call-overload]
