"""The package as it is installed: imports, names, the first fit on a machine, the examples."""

import doctest
import importlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import coterie
from coterie._optional import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(coterie.__file__).parent
DOCUMENTED = [
    "coterie",
    "coterie._memory",
    "coterie._sentence",
    "coterie.cli.words",
    "coterie.datasets",
    "coterie.embedders",
    "coterie.embedders._prepare",
    "coterie.embeddings",
    "coterie.estimators.gpudmm",
    "coterie.estimators.gsdmm",
    "coterie.estimators.gsdpmm",
    "coterie.estimators.tsdpmm",
    "coterie.estimators.xdmm",
    "coterie.grouping",
    "coterie.loading",
    "coterie.metrics",
    "coterie.plotting",
    "coterie.report.clean",
    "coterie.report.drawing",
    "coterie.report.charts",
    "coterie.report.layout",
    "coterie.report.view",
    "coterie.seeds",
    "coterie.text._kinds",
    "coterie.trace",
    "coterie.urns",
]


def run_python(code: str, *options: str, **how: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, timeout=180, **how
    )
    assert done.returncode == 0, done.stderr
    return done


class TestImport:
    def test_is_light(self) -> None:
        code = "import sys, coterie; coterie.__version__; dir(coterie); print(*sys.modules)"
        loaded = {name.split(".")[0] for name in run_python(code).stdout.split()}
        assert "coterie" in loaded
        heavy = {"numba", "llvmlite", "sklearn", "pandas", "scipy", "numpy", "safetensors", "rich"}
        assert not loaded & heavy

    def test_changes_nothing_in_the_host_program(self) -> None:
        code = (
            "import logging, signal, sys, warnings\n"
            "def look():\n"
            "    return (list(warnings.filters), list(logging.getLogger().handlers),\n"
            "            logging.getLogger().level, signal.getsignal(signal.SIGINT))\n"
            "import numba, sklearn.base, sklearn.feature_extraction.text, scipy.sparse\n"
            "import scipy.special, safetensors.numpy, rich\n"
            "before = look()\n"
            "import coterie\n"
            "coterie.GSDMM(3, n_sweeps=2, random_state=0).fit(['red car', 'blue car'])\n"
            "assert look() == before\n"
            "assert not logging.getLogger('coterie').handlers\n"
        )
        assert run_python(code).stdout == "", "nobody prints"

    @pytest.mark.parametrize("name", coterie.__all__)
    def test_every_public_name_is_there(self, name: str) -> None:
        assert getattr(coterie, name) is not None
        assert name in dir(coterie)

    def test_star_import(self) -> None:
        namespace: dict[str, Any] = {}
        exec("from coterie import *", namespace)
        assert set(coterie.__all__) <= set(namespace)

    def test_submodules(self) -> None:
        from coterie import errors, metrics

        assert errors.InvalidInput
        assert metrics.nmi

    def test_an_unknown_name(self) -> None:
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = coterie.nonsense

    def test_version(self) -> None:
        from importlib.metadata import version

        assert re.fullmatch(r"\d+\.\d+\.\d+([a-z]+\d+|\.dev\d+)?", coterie.__version__)
        assert version("coterie") == coterie.__version__

    def test_is_typed(self) -> None:
        assert (PACKAGE / "py.typed").exists()

    def test_every_module_says_what_it_is(self) -> None:
        for path in PACKAGE.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert text.startswith('"""') or path.name == "_version.py", path


class TestErrors:
    def test_the_tree(self) -> None:
        from coterie import errors

        for name, builtin in [
            ("InvalidInput", ValueError),
            ("Unsupported", ValueError),
            ("ModelFileError", OSError),
        ]:
            cls = getattr(errors, name)
            assert issubclass(cls, errors.CoterieError)
            assert issubclass(cls, builtin)


# A fit with the sampler that takes a quarter of the time to compile; the others announce it.
FIT = """
import coterie
from coterie.backends.cpu import announce_compilation
announce_compilation("gibbs")
model = coterie.GSDMM(5, n_sweeps=3, sampler="em", random_state=0)
model.fit([["red", "car"], ["blue", "car"], ["pie"]])
print(*model.labels_, *model.predict([["car"], []]))
"""
# Root may write anywhere, whatever the permissions say. This gives that right up (capset, Linux).
BOUND_BY_PERMISSIONS = """
import os, sys
if os.getuid() == 0:
    import ctypes
    who, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    assert libc.capget(who, sets) == 0
    sets[0] &= ~(1 << 1)  # CAP_DAC_OVERRIDE, in the effective set
    assert libc.capset(who, sets) == 0
try:
    open(os.environ["HOME"] + "/x", "w")
except PermissionError:
    pass
else:
    sys.exit("the folder is not read-only")
"""


class TestFirstFit:
    """`test_environments` has the usual first fit: it compiles, says so, and only once."""

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform != "linux", reason="permissions and root work otherwise there")
    def test_a_read_only_installation_and_an_unwritable_home(self, read_only: Path) -> None:
        """No place for a cache at all: it compiles in every process, and works."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(read_only / "home"),
            "PYTHONPATH": str(read_only),
            "NUMBA_OPT": "0",  # compiles faster, and all that counts here is that it does
        }
        code = BOUND_BY_PERMISSIONS + FIT + "print(coterie.__file__)"
        done = run_python(code, cwd="/", env=env)
        assert str(read_only) in done.stdout
        assert "NUMBA_CACHE_DIR" in done.stderr
        assert not any(read_only.rglob("*.nbi"))

    def test_no_place_for_a_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from numba.core import caching

        from coterie.kernels._common import kernel

        def no_place(*args: Any) -> None:
            raise RuntimeError("cannot cache function: no locator available")

        monkeypatch.setattr(caching.FunctionCache, "__init__", no_place)

        def twice(x: float) -> float:
            return 2 * x

        assert kernel(twice)(4.0) == 8.0

    def test_a_cache_that_cannot_be_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A full disk, or a folder that is read-only since."""
        from numba.core import caching

        from coterie.kernels._common import kernel

        tried = []

        def full(*args: Any) -> None:
            tried.append(args)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(caching.FunctionCache, "save_overload", full)

        def thrice(x: float) -> float:
            return 3 * x

        assert kernel(thrice)(4.0) == 12.0
        assert tried


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder with a copy of the package that nobody may write to."""
    folder = Path(tempfile.mkdtemp(prefix="coterie-read-only-"))
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "coterie", ignore=ignored)
    (folder / "home").mkdir()
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in paths:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    shutil.rmtree(folder)


class TestExamples:
    def test_readme(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        monkeypatch.chdir(tmp_path)
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
        assert blocks
        namespace: dict[str, Any] = {}
        for block in blocks:
            exec(compile(block, "README.md", "exec"), namespace)
        assert capsys.readouterr().out

    @pytest.mark.parametrize("name", DOCUMENTED)
    def test_docstrings(self, name: str) -> None:
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0

    def test_all_modules_with_examples_are_tested(self) -> None:
        with_examples = {
            ".".join(["coterie", *path.relative_to(PACKAGE).with_suffix("").parts])
            for path in PACKAGE.rglob("*.py")
            if ">>> " in path.read_text(encoding="utf-8")
        }
        assert {name.removesuffix(".__init__") for name in with_examples} == set(DOCUMENTED)

    def test_what_we_say_to_install_can_be_installed(self) -> None:
        """coterie is on no package index; a part is named by its packages, or as .[part] here."""
        pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *PACKAGE.rglob("*.py")]
        for path in pages:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r'pip install "?coterie|coterie\[', text), path
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extra, packages in PACKAGES.items():
            listed = project["optional-dependencies"][extra]
            assert [Requirement(line).name for line in listed] == packages.split()

    def test_readme_names_what_there_is(self) -> None:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        for cls in re.findall(r"\| `(\w+)\((.*?)\)` \|", readme):
            estimator = getattr(coterie, cls[0])
            shown = eval(f"dict({cls[1]})")
            defaults = estimator().get_params()
            assert {name: defaults[name] for name in shown} == shown, cls[0]
