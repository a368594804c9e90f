"""Shared by all tests: where compiled kernels are cached, the seeds, and the benchmark corpora."""

import gzip
import json
import logging
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromium  # in tools/
import pytest
from chance import OFFSET, moved

try:
    from hypothesis import is_hypothesis_test, settings
except ImportError:  # a machine with a GPU that has only what tests/cuda needs
    settings = None

ROOT = Path(__file__).resolve().parents[1]


# Compiled kernels are kept in one place, out of the source tree and of the user's own cache. This
# must come before anything imports numba.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "numba"))

# A shell starts background jobs with Ctrl-C ignored; tests of Ctrl-C, and their children, need it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A first call compiles for seconds, so a time limit per example would only measure that. The same
# examples every time: a run is green or red for what it tests. COTERIE_TEST_SEED names other ones, and
# more of them.
if settings is not None:
    settings.register_profile("coterie", deadline=None, derandomize=True, max_examples=60)
    settings.register_profile("other seeds", deadline=None, database=None)
    settings.load_profile("other seeds" if OFFSET else "coterie")


@pytest.fixture(autouse=True)
def records_are_heard() -> Iterator[None]:
    """A quiet command sets the level of coterie's records; the next test hears them again."""
    yield
    logging.getLogger("coterie").setLevel(logging.NOTSET)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Other examples for hypothesis, but the same ones for the same COTERIE_TEST_SEED."""
    if OFFSET and settings is not None and config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(moved(0))


# These take longest, so they begin first: at the end no process waits long for another.
LONG = (
    *("environments", "package", "oracle", "metropolis", "trust", "splitting", "cli_streams"),
    *(
        "forged",
        "bad_input",
        "docs",
        "kernel_cache",
        "levels",
        "checkpoint",
        "cli",
        "report_opened",
    ),
    *("uncollapsed", "examples", "large", "dask_large", "dask", "report", "hostile", "located"),
)


def _rank(item: pytest.Item) -> int:
    name = item.path.stem.removeprefix("test_")
    return LONG.index(name) if name in LONG else len(LONG)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, and mark what `make test-seeds` runs: what a seed changes."""
    items.sort(key=_rank)
    for item in items:
        drawn = settings is not None and is_hypothesis_test(getattr(item, "obj", None))
        if drawn or "any_seed" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.chance)


@pytest.fixture(autouse=True)
def _no_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without a seed asks the system for one; in the tests it gets the same one every time."""
    monkeypatch.setattr("coterie.sampler.secrets.randbits", random.Random(moved(0)).getrandbits)


@pytest.fixture(params=[0, 1, 20140824], ids="seed{}".format)
def any_seed(request: pytest.FixtureRequest) -> int:
    """Each of three seeds: what holds must not hold by luck."""
    return moved(int(request.param))


@pytest.fixture(scope="module")
def wordllama() -> Any:
    """The table of token vectors that is installed with coterie."""
    from coterie.embedders import resolve
    from coterie.embedders._table import TokenTable

    found = resolve("auto")
    assert isinstance(found, TokenTable)
    return found


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the benchmark corpora: COTERIE_DATA, else ../shared/data beside the checkout."""
    folder = Path(os.environ.get("COTERIE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no benchmark corpora here: set COTERIE_DATA to the folder of *.jsonl.gz files")
    return folder


@pytest.fixture(scope="session")
def load_jsonl(data_dir: Path) -> Callable[[str], list[dict[str, Any]]]:
    """A function from a corpus name ("tweet") to its rows ({"text": ..., "label": ...})."""

    def load(name: str) -> list[dict[str, Any]]:
        path = data_dir / f"{name}.jsonl.gz"
        if not path.is_file():
            pytest.skip(f"the corpus {path.name} is not in the data folder")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    return load


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    paths = chromium.installed()
    if paths is None:
        pytest.skip("no browser here: install chromium and chromedriver to open the report")
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    opened = chromium.start(paths, "--force-prefers-reduced-motion", profile)
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Any]:
    """A Dask cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed", reason="needs coterie[dask]")
    workers = dict(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with distributed.LocalCluster(**workers) as cluster, distributed.Client(cluster) as client:
        yield client
