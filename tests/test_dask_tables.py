"""Tables of Dask DataFrames: what the workers write, and what is only made when it is asked for."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import normalized_mutual_info_score
from test_dask_large import FAST, TEXTS, TOPICS, frame

import coterie
from coterie.clustering import ADDED
from coterie.distributed import calls
from coterie.errors import InvalidInput, ModelFileError

distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
pytest.importorskip("pyarrow", reason="Dask DataFrames need pyarrow")


def test_what_must_not_be_replaced(dask_client: Any, tmp_path: Path) -> None:
    """It is refused before any stage begins, which may take hours."""
    import dask.dataframe as dd
    import pandas as pd

    given = dd.from_pandas(pd.DataFrame({"text": TEXTS[:50]}), npartitions=2)
    stages: list[str] = []
    (tmp_path / "out").mkdir()
    for name in ("part-0.parquet", "mine.txt"):  # Dask names its files as we do
        mine = tmp_path / "out" / name
        mine.write_text("x")
        with pytest.raises(ModelFileError, match=f"not empty .{name}.; choose a new one"):
            coterie.cluster_large(given, tmp_path / "out", on_stage=stages.append)
        assert mine.read_text() == "x"
        mine.unlink()
    with pytest.raises(InvalidInput, match="no column 'nothing'"):
        coterie.cluster_large(given, tmp_path / "new", text="nothing", on_stage=stages.append)
    assert stages == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_it_tells_how_many_partitions_are_done(dask_client: Any, tmp_path: Path) -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    note = lambda stage, *now: told.setdefault(stage, []).append(now)  # noqa: E731
    coterie.cluster_large(frame(300), tmp_path / "out", text="text", on_progress=note, **FAST)
    assert list(told) == ["words", "sample", "encoding", "placing", "settling", "writing"]
    for stage in ("words", "encoding", "placing", "writing"):
        assert told[stage] == [(1, 3), (2, 3), (3, 3)]
    assert told["sample"] == [(i, 8) for i in range(1, 9)]


def test_a_table_that_is_not_gathered(dask_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """cluster() of a Dask DataFrame gives one back; the workers make its rows when they are asked to."""
    import dask.dataframe as dd

    given, collected = frame(400), []
    computed = calls.computed

    def noted(*given: Any) -> Any:
        found = computed(*given)
        collected.append(len(found))
        return found

    def whole(*_: Any, **__: Any) -> None:
        pytest.fail("all rows were gathered")

    with monkeypatch.context() as patched:
        patched.setattr(type(given), "compute", whole)
        patched.setattr("coterie.large.on_dask.computed", noted)
        patched.setattr("coterie.large.on_dask.HEAD", 10)
        groups = coterie.cluster(given, "text", n_clusters=6, embedder=None, levels=False)
        assert collected == [10]
    assert isinstance(groups.table, dd.DataFrame)
    assert list(groups.table.columns) == ["text", "topic", *ADDED]
    table = groups.table.compute()
    assert (table.dtypes == groups.table.dtypes).all()
    assert table.index.tolist() == given.compute().index.tolist()
    labels = table["cluster"].to_numpy()
    np.testing.assert_array_equal(groups.model.frozen.size, np.bincount(labels[labels >= 0]))
    assert labels[7] == -1
    assert normalized_mutual_info_score(TOPICS[:400], labels) > 0.6
    groups.rename(0, "Mine")
    assert (groups.table["name"].compute() == "Mine").sum() == (labels == 0).sum()


INDEXES = {
    "named": ({"name": "article"}, ["article"]),
    "not named": ({"name": None}, ["index"]),
    "taken": ({"name": "topic"}, ["topic_index"]),
    "several": ({"names": ["day", None]}, ["day", "level_1"]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_is_written(dask_client: Any, tmp_path: Path, name: str) -> None:
    """As a column, as pandas does; one that only counts the rows is not."""
    import dask.dataframe as dd
    import pandas as pd

    how, columns = INDEXES[name]
    ids = [f"row {i:04d}" for i in range(300)]
    if name == "several":
        index: Any = pd.MultiIndex.from_arrays([ids, range(300)], **how)
    else:
        index = pd.Index(ids, **how)
    table = pd.DataFrame({"text": TEXTS[:300], "topic": TOPICS[:300]}, index=index)
    parts = [table[:100], table[100:]]
    given = dd.from_map(lambda i: parts[i], [0, 1], meta=table[:0])
    coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert found.columns == [*columns, "text", "topic", *ADDED]
    assert found[columns[0]].to_list() == ids
    assert found["topic"].to_list() == list(TOPICS[:300])


def test_steps_between_rows_are_an_index(dask_client: Any, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    given = dd.from_pandas(pd.DataFrame({"text": TEXTS[:600]}).iloc[::2], npartitions=2)
    coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert found["index"].to_list() == list(range(0, 600, 2))


@pytest.mark.parametrize("missing", [float("nan"), None])
def test_files_of_partitions_without_values_fit_the_others(
    dask_client: Any, tmp_path: Path, missing: Any
) -> None:
    """A partition may have no text at all, nothing in another column, or no rows."""
    import dask.dataframe as dd
    import pandas as pd

    notes = [f"note {i}" for i in range(200)]
    parts = [
        pd.DataFrame({"text": [missing] * 5, "note": notes[:5], "n": range(5)}),
        pd.DataFrame({"text": TEXTS[:200], "note": notes, "n": range(200)}),
        pd.DataFrame({"text": TEXTS[200:400], "note": [missing] * 200, "n": range(200)}),
        pd.DataFrame({"text": TEXTS[:0], "note": notes[:0], "n": range(0)}),
    ]
    given = dd.from_map(lambda i: parts[i], range(4), meta=parts[1][:0])
    coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    files = sorted((tmp_path / "out").iterdir())
    types = [list(pl.read_parquet_schema(file).items()) for file in files]
    assert types == [types[1]] * 4
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert found["text"].to_list() == [None] * 5 + TEXTS[:400]
    assert found["note"].to_list() == notes[:5] + notes + [None] * 200


def test_files_of_partitions_of_several_types_fit_together(
    dask_client: Any, tmp_path: Path
) -> None:
    """pandas has whole numbers as Float64 where one is missing; the index may differ as columns do."""
    import dask.dataframe as dd
    import pandas as pd

    n, nan, large = 200, float("nan"), 2**53 + 1
    days = pd.date_range("2024-01-01", periods=n)
    first = {"n": range(n), "share": range(n), "large": [large] * n, "void": [nan] * n, "day": days}
    second = {"n": [*range(n - 1), nan], "share": [0.5] * n, "large": [0.5] * n, "void": [None] * n}
    second["day"] = days.astype("datetime64[ns]")
    parts = [
        pd.DataFrame({"text": TEXTS[:n], **first}, index=pd.Index(range(n), name="id")),
        pd.DataFrame(
            {"text": TEXTS[n : 2 * n], **second},
            index=pd.Index([f"{i}" for i in range(n)], name="id"),
        ),
    ]
    given = dd.from_map(lambda i: parts[i], range(2), meta=parts[0][:0], enforce_metadata=False)
    coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    types = [pl.String, pl.String, pl.Int64, pl.Float64, pl.String, pl.Float64, pl.Datetime("us")]
    assert found.dtypes[: len(types)] == types
    assert found["n"].to_list() == [*range(n), *range(n - 1), None]
    assert found["large"].to_list() == [str(large)] * n + ["0.5"] * n
    assert found["void"].null_count() == 2 * n
    assert found["id"].to_list() == [f"{i}" for i in range(n)] * 2


@pytest.mark.parametrize("kept", [False, True])
def test_a_range_of_rows_is_no_index(dask_client: Any, tmp_path: Path, kept: bool) -> None:
    """What is left after rows were taken out is one, in every file."""
    import dask.dataframe as dd
    import pandas as pd

    table = pd.DataFrame({"text": TEXTS[:300], "n": range(300)})
    given = dd.from_pandas(table, npartitions=3)
    if kept:
        given = given[given.n % 50 != 49 - (given.n < 200) * 25]
    coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert found.columns == [*["index"][: int(kept)], "text", "n", *ADDED]
    if kept:
        assert found["index"].to_list() == found["n"].to_list()


def test_columns_may_be_numbers(dask_client: Any, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    table = pd.DataFrame({0: TEXTS[:300], 1: [f"id {i}" for i in range(300)], 2: TEXTS[300:600]})
    given = dd.from_pandas(table, npartitions=2)
    same = given.rename(columns={0: "text", 1: "id", 2: "more"})
    for number, name in (({}, {}), ({"id": 1}, {"id": "id"}), ({"text": (0, 2)}, None)):
        name = {"text": "text"} | name if name is not None else {"text": ("text", "more")}
        number = {"text": 0} | number
        groups, expected = (
            coterie.cluster(given, **number, **FAST),
            coterie.cluster(same, **name, **FAST),
        )
        np.testing.assert_array_equal(groups.table["cluster"], expected.table["cluster"])
        assert list(groups.table.columns) == [0, 1, 2, *ADDED]
    alone = coterie.cluster(dd.from_pandas(table[[0]], npartitions=2), **FAST)
    assert len(alone.table) == 300
    coterie.cluster_large(given, tmp_path / "out", text=0, id=1, **FAST)
    assert pl.read_parquet(tmp_path / "out" / "*.parquet").columns == ["0", "1", "2", *ADDED]


def test_values_of_several_kinds_are_written(dask_client: Any, tmp_path: Path) -> None:
    import dask
    import dask.dataframe as dd
    import pandas as pd

    more = [datetime(2020, 1, 1), "x", b"y", {"a": 1}, "bread \ud83d oven"] * 40
    table = pd.DataFrame({"text": pd.Series([5, "oven \ud83d", *TEXTS[2:400]], dtype=object)})
    table["more"] = pd.Series(more * 2, dtype=object)
    parts = [table[:200], table[200:]]
    with dask.config.set({"dataframe.convert-string": False}):
        given = dd.from_map(lambda i: parts[i], [0, 1], meta=table[:0])
        coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)
    found = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert found["text"].to_list() == ["5", "oven \ufffd", *TEXTS[2:400]]
    texts = ["2020-01-01 00:00:00", "x", "y", '{"a": 1}', "bread \ufffd oven"]
    assert found["more"].to_list() == texts * 80


def test_columns_of_one_name_are_refused_at_once(dask_client: Any, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    table = pd.DataFrame({"text": TEXTS[:20], 0: range(20), "0": TEXTS[:20]})
    given = dd.from_map(lambda _: table, [0], meta=table[:0])
    with pytest.raises(InvalidInput, match="The columns 0 and '0' have the same name in a file"):
        coterie.cluster_large(given, tmp_path / "out", text="text", **FAST)


def test_what_dask_does_not_take(dask_client: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="sampler of cluster does not work for a Dask"):
        coterie.cluster(frame(30), "text", sampler="em")
    with pytest.raises(InvalidInput, match="name it with out="):
        coterie.cluster_large(tmp_path / "x.csv")


def test_what_a_lazy_table_needs_is_as_new(dask_client: Any) -> None:
    """Nobody looks after its tasks: none is tied to a worker, and what they lost is forgotten."""

    def lose(stage: str) -> None:
        if stage == "settling":
            dask_client.run_on_scheduler(_suspect_all)

    before = dask_client.run_on_scheduler(_tied_or_suspect)
    groups = coterie.cluster_large(frame(300), text="text", on_stage=lose, **FAST)
    others = {key for key, *_ in before}
    found = [
        each for each in dask_client.run_on_scheduler(_tied_or_suspect) if each[0] not in others
    ]
    assert [each for each in found if each[1:] != (False, 0)] == []
    assert any(key.startswith("coterie_encode") for key, *_ in found)
    assert len(groups.table) == 300


def _suspect_all(dask_scheduler: Any) -> None:
    for task in dask_scheduler.tasks.values():
        task.suspicious = 2


def _tied_or_suspect(dask_scheduler: Any) -> list[tuple[str, bool, int]]:
    tasks = dask_scheduler.tasks.values()
    ours = [task for task in tasks if str(task.key).startswith("coterie_")]
    return [(str(t.key), bool(t.worker_restrictions), t.suspicious) for t in ours]
