"""What the command line says while it works."""

import pytest

import coterie
from coterie.cli import progress
from coterie.cli.progress import Stages


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def test_a_long_stage_says_how_much_is_done_and_left(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    stages = Stages()
    stages.enter("vectors")
    clock[0] = 0.5
    stages.part("vectors", 10, 4000)  # too early to tell
    clock[0] = 20.0
    stages.part("vectors", 1000, 4000)
    clock[0] = 25.0
    stages.part("vectors", 1250, 4000)  # a log file gets a line now and then
    stages.part("words", 1, 2)  # another stage
    assert capsys.readouterr().err == "vectors: 1,000 of 4,000 texts · about 1:00 min left\n"


def test_a_file_that_is_read_in_parts_is_measured_in_bytes(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    stages = Stages()
    stages.enter("words")
    clock[0] = 20.0
    stages.part("words", 2_500_000_000, 10_000_000_000)
    stages.close()
    assert capsys.readouterr().err.startswith("words: 2.5 GB of 10.0 GB · about 1:00 min left\n")


@pytest.mark.parametrize(
    ("stage", "unit", "says"),
    [
        ("words", "partitions", "3 of 12 partitions"),
        ("encoding", "partitions", "3 of 12 partitions"),
        ("settling", "texts", "25%"),
        ("levels", "texts", "25%"),
    ],
)
def test_each_stage_has_its_unit(
    clock: list[float], capsys: pytest.CaptureFixture[str], stage: str, unit: str, says: str
) -> None:
    stages = Stages()
    stages.enter(stage)
    clock[0] = 20.0
    stages.part(stage, 3, 12, unit=unit)
    assert capsys.readouterr().err == f"{stage}: {says} · about 1:00 min left\n"


def test_the_first_sweep_over_a_sample_is_not_counted(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """It may take half a minute to compile the kernels, and the others a second each."""
    stages = Stages()
    stages.enter("sample")
    for clock[0], done in ((30.0, 1), (31.0, 2), (41.0, 12)):
        stages.part("sample", done, 40, unit="partitions")
    assert capsys.readouterr().err.splitlines() == [
        "sample: 1 of 40 sweeps",
        "sample: 12 of 40 sweeps · about 28.0 s left",
    ]


def test_nothing_is_said_if_it_must_be_quiet(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    stages = Stages(quiet=True)
    stages.enter("vectors")
    clock[0] = 20.0
    stages.part("vectors", 1000, 4000)
    assert not capsys.readouterr().err


def test_cluster_tells_how_many_texts_are_embedded() -> None:
    told: list[tuple[str, int, int]] = []
    texts = ["red apple pie", "fast car race"] * 20
    coterie.cluster(texts, levels=False, on_progress=lambda *now: told.append(now))
    assert told[-1] == ("vectors", 40, 40)
