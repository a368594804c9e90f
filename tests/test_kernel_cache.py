"""Compiled kernels on disk belong to the sources they came from, and no private flag is required."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core.registry import cpu_target

import coterie
from coterie.kernels import _common

PACKAGE = Path(coterie.__file__).parent
KERNELS = PACKAGE / "kernels"
PRIVATE = {"_nrt": False, "forceinline": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}

FINGERPRINT = """
import numpy as np
from coterie.kernels import tally
high, low = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
one = np.ones(1, np.int32)
tally.fingerprints(np.array([0, 1]), one, one, high, low)
print(high[0], sum(tally.fingerprints.stats.cache_hits.values()))
"""


def run(code: str, folder: Path, **more: str) -> str:
    env = {
        **{key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"},
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python's own cache trusts time stamps
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def edit(path: Path, old: str, new: str) -> None:
    """Another text of the same size, and the same time stamp."""
    before, content = path.stat(), path.read_text(encoding="utf-8")
    assert content.count(old) == 1
    assert len(old) == len(new)
    path.write_text(content.replace(old, new), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that holds a copy of the package, as installed, without compiled code."""
    folder = tmp_path / "site"
    shutil.copytree(PACKAGE, folder / "coterie", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


EDITS = {  # a helper, and a constant
    "kernels/_common.py": ("(x >> np.uint64(27))", "(x >> np.uint64(28))"),
    "_rng.py": ("GOLDEN = 0x9E3779B97F4A7C15", "GOLDEN = 0x9E3779B97F4A7C17"),
}


@pytest.mark.parametrize("place", ["beside the sources", "in NUMBA_CACHE_DIR"])
def test_what_was_edited_is_compiled_again(place: str, installed: Path, tmp_path: Path) -> None:
    where = {} if place.startswith("beside") else {"NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    first, hits = run(FINGERPRINT, installed, **where).split()
    assert hits == "0"
    for file, (old, new) in EDITS.items():
        edit(installed / "coterie" / file, old, new)
        other, hits = run(FINGERPRINT, installed, **where).split()
        assert other != first
        assert hits == "0"
        edit(installed / "coterie" / file, new, old)
    assert run(FINGERPRINT, installed, **where).split() == [first, "1"]


class Imports(ast.NodeVisitor):
    """The modules that a file imports when it runs."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def visit_Import(self, node: ast.Import) -> None:
        self.found |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        assert node.level == 0, "a relative import"
        module = node.module or ""
        names = {f"coterie.{alias.name}" for alias in node.names}
        self.found |= names if module == "coterie" else {module}

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)


def test_the_digest_covers_every_module_that_kernels_import() -> None:
    imports = Imports()
    for path in KERNELS.glob("*.py"):
        imports.visit(ast.parse(path.read_text(encoding="utf-8")))
    ours = {name for name in imports.found if name.startswith("coterie.")}
    outside = {name for name in ours if not f"{name}.".startswith("coterie.kernels.")}
    assert {f"{name.removeprefix('coterie.')}.py" for name in outside} == set(
        _common._OTHER_SOURCES
    )


def test_a_kernel_keeps_its_own_name() -> None:
    def twice(x: float) -> float:
        return 2 * x

    name = twice.__qualname__
    assert _common.kernel(twice).__qualname__ == name == twice.__qualname__


def test_sources_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable() -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_common, "sources_digest", unreadable)

    def twice(x: float) -> float:
        return 2 * x

    name = twice.__qualname__
    assert _common.kernel(twice)(4.0) == 8.0
    assert twice.__qualname__ == name


class TestPrivateFlags:
    def test_this_numba_knows_them(self) -> None:
        """Otherwise kernels are several times slower, and somebody should look for another way."""
        assert _common.supported(PRIVATE) == PRIVATE

    @pytest.mark.parametrize("missing", PRIVATE)
    def test_one_that_is_unknown_is_left_out(
        self, missing: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = cpu_target.options

        class Fewer:
            @staticmethod
            def parse_as_flags(flags: Any, options: dict[str, Any]) -> Any:
                if missing in options:
                    raise KeyError(f"Unrecognized options: {{{missing!r}}}")
                return real.parse_as_flags(flags, options)

        monkeypatch.setattr(type(cpu_target), "options", Fewer, raising=False)
        assert _common.supported(PRIVATE) == {k: v for k, v in PRIVATE.items() if k != missing}

    def test_a_numba_that_cannot_be_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(numba.core.registry, "cpu_target", None)
        assert _common.supported(PRIVATE) == {}

    def test_kernels_work_without_them(self, tmp_path: Path) -> None:
        forget = (
            "from numba.core.cpu import CPUTargetOptions\n"
            "for cls in CPUTargetOptions.__mro__:\n"
            "    for name in ('_nrt', 'forceinline'):\n"  # numba's own code uses the others
            "        if name in vars(cls):\n"
            "            delattr(cls, name)\n"
        )
        flags = (
            "from coterie.kernels import _common\nprint(*_common._INNER, *_common._FORCE_INLINE)\n"
        )
        where = {"NUMBA_CACHE_DIR": str(tmp_path)}
        *usual, known = run(FINGERPRINT + flags, PACKAGE.parent, **where).split(maxsplit=2)
        where = {"NUMBA_CACHE_DIR": str(tmp_path / "without")}
        *found, left = run(forget + FINGERPRINT + flags, PACKAGE.parent, **where).split(maxsplit=2)
        assert found == usual
        assert set(known.split()) - set(left.split()) == {"_nrt", "forceinline"}
