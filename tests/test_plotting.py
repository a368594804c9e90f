"""Figures: each kind shows what it promises, files are the same every time, errors are sentences."""

import io
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import coterie
from coterie import datasets, plotting
from coterie.errors import InvalidInput, Unsupported

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

COLUMN = {"over": "created_at"}
EVERY = pytest.mark.parametrize("kind", plotting.KINDS)
MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.fixture(scope="module")
def groups() -> coterie.Clustering:
    return coterie.cluster(datasets.tickets(400), text="body", n_clusters=9)


@pytest.fixture
def edited(groups: coterie.Clustering) -> Iterator[coterie.Clustering]:
    yield groups
    while groups.history:
        groups.undo()


def written(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


@EVERY
def test_it_is_a_figure_that_can_be_drawn(groups: coterie.Clustering, kind: str) -> None:
    figure = groups.plot(kind, COLUMN.get(kind))
    assert isinstance(figure, Figure)
    assert figure._repr_png_().startswith(MAGIC["png"])
    assert pickle.loads(pickle.dumps(figure)).axes


@pytest.mark.parametrize(
    ("kind", "ending"), [("map", "svg"), ("sizes", "pdf"), ("over", "svg"), ("tree", "png")]
)
def test_files_are_the_same_every_time(
    groups: coterie.Clustering, kind: str, ending: str, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{i}.{ending}" for i in (1, 2)]
    for path in paths:
        groups.plot(kind, COLUMN.get(kind), path=path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(MAGIC[ending])


@EVERY
def test_axes_of_your_own(groups: coterie.Clustering, kind: str) -> None:
    figure = Figure(figsize=(6, 3))
    left, right = figure.subplots(1, 2)
    assert groups.plot(kind, COLUMN.get(kind), ax=right) is figure
    assert right.texts
    assert not left.texts
    figure.savefig(io.BytesIO())


def test_the_map_has_a_dot_per_text(groups: coterie.Clustering) -> None:
    ax = groups.plot("map").axes[0]
    assert len(ax.collections[0].get_offsets()) == 400
    assert len(ax.patches) == 2 * groups.n_clusters
    assert len(written(groups.plot("map"))) >= 6


def test_sizes_are_those_of_the_clusters(groups: coterie.Clustering) -> None:
    figure = groups.plot("sizes")
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    assert bars == groups.clusters["size"].to_list()
    assert set(groups.names) <= set(written(figure))


def test_small_clusters_are_counted_on_the_axis(
    groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plotting, "MOST_BARS", 4)
    rest = groups.clusters["size"][4:].sum()
    label = groups.plot("sizes").axes[0].get_xlabel()
    assert label == f"texts (not shown: 5 smaller clusters with {rest} texts)"


def test_changes_over_time_are_named(groups: coterie.Clustering) -> None:
    changed = groups.over("created_at", "month").changes
    moving = changed.filter(changed["state"] != "steady")["name"].to_list()
    figure = groups.plot("over", "created_at", every="month")
    assert sorted(written(figure)) == sorted(moving)
    assert moving
    lines = figure.axes[0].get_lines()
    assert len(lines) == groups.n_clusters
    assert "month" in figure.axes[0].get_ylabel()


@pytest.mark.parametrize("most", [4, 40])
def test_the_tree_joins_all_clusters(
    groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(plotting, "MOST_LEAVES", most)
    figure = groups.plot("tree")
    leaves = min(most, groups.n_clusters)
    assert len(figure.axes[0].get_lines()) == leaves - 1
    counts = [int(text.rpartition("  ")[2]) for text in written(figure)]
    assert len(counts) == leaves
    assert sum(counts) == 400


def test_a_tree_after_edits(edited: coterie.Clustering) -> None:
    edited.rename(0, "Renamed")
    assert any("Renamed" in text for text in written(edited.plot("tree")))
    edited.split(0, into=2)
    with pytest.raises(InvalidInput, match="merged or split by hand"):
        edited.plot("tree")


def test_names_are_not_formulas(edited: coterie.Clustering) -> None:
    edited.rename(0, r"$5 or $\frac{ and _x^")
    for kind in plotting.KINDS:
        edited.plot(kind, COLUMN.get(kind))._repr_png_()


@pytest.mark.parametrize("texts", [["one text"], ["bread oven", "bike ride", "bread oven"] * 3])
def test_few_texts(texts: list[str]) -> None:
    found = coterie.cluster(texts)
    for kind in ("map", "sizes", "tree"):
        found.plot(kind)._repr_png_()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "pie"}, "kind of plot.* must be 'map', 'sizes', 'over' or 'tree'; got 'pie'"),
        ({"kind": "over"}, "needs a column with times"),
        ({"kind": "over", "column": "nothing"}, "nothing"),
        ({"kind": "over", "column": "channel"}, "channel"),
        ({"kind": "over", "column": "created_at", "every": "decade"}, "every|decade"),
        ({"kind": "map", "column": "created_at"}, "column and every are for"),
        ({"kind": "map", "ax": 3}, "must be matplotlib axes, not int"),
        ({"kind": "map", "path": "map.docx"}, "must end in .png, .pdf or .svg; got 'map.docx'"),
        ({"path": "map.png"}, "with path needs a kind of figure"),
    ],
)
def test_what_is_refused(groups: coterie.Clustering, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        groups.plot(**given)


def test_without_matplotlib(groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Unsupported, match=r"needs matplotlib.*pip install matplotlib"):
        groups.plot("map")
    assert "<svg" in groups.plot().svg


def test_pyplot_is_left_alone(groups: coterie.Clustering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # importing it fails now
    groups.plot("sizes")._repr_png_()


def test_the_colours_are_those_of_the_report() -> None:
    assert plotting._palette()[0] == "#3d77ad"
    assert len(set(plotting._palette())) == 6
