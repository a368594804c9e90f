"""README and docs tell the truth: their code runs, their commands and the files they link to exist."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import coterie

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials"]
HAS_REPORT = find_spec("coterie.report.data") is not None
HAS_CLI = find_spec("coterie.cli") is not None
RUN = "import sys; from coterie.cli import main; sys.exit(main())"


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """(line number, code) of every fenced block of a language."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, m.start(1)), m[1]) for m in found]


def shell_lines() -> list[str]:
    return sorted(
        {line for page in PAGES for _, block in blocks(page, "sh") for line in block.splitlines()}
    )


@pytest.mark.parametrize(
    "page", [p for p in PAGES if p not in TUTORIALS], ids=lambda p: str(p.relative_to(ROOT))
)
def test_python(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block runs, in the page's order and in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    left_out = []
    for line, code in blocks(page, "python"):
        if not HAS_REPORT and ".report(" in code:
            left_out.append(line)
            continue
        exec(compile("\n" * line + code, str(page), "exec"), namespace)
    if left_out:
        pytest.skip(f"coterie.report.data is not there: blocks at lines {left_out} did not run")


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run, and what is shown below their code is what it prints."""
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("outputs", ROOT / "tools" / "outputs.py")
    assert spec is not None
    assert spec.loader is not None
    outputs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(outputs)
    text = outputs.updated(page)
    if as_tested():
        assert text == page.read_text(encoding="utf-8"), "make outputs brings it up to date"


def as_tested() -> bool:
    """Whether results may be compared to the letter: on Linux, with the versions of constraints.txt."""
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().split()
    names = ("numpy", "scipy", "numba", "polars", "scikit-learn", "wordllama")
    return sys.platform == "linux" and all(f"{name}=={version(name)}" in pinned for name in names)


def test_each_seed_of_the_readme_finds_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the comments beside the example say."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    code = next(code for _, code in blocks(ROOT / "README.md", "python") if "seeds=" in code)
    exec(compile(f"import coterie\n{code}", "README.md", "exec"), namespace)
    groups = namespace["groups"]
    assert groups.names == ["Food", "Sport"]
    assert groups.model.frozen.size.tolist() == [2, 2]
    assert groups.n_missing == 0
    found = groups.seed_report().to_dicts()
    assert all(seed["documents"] == 2 for seed in found), found


def test_no_block_is_missed() -> None:
    """A block in a language that no test knows would go untested."""
    for page in PAGES:
        opened = re.findall(r"^ *```(\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(opened) <= {"python", "sh", "{toctree}", "{eval-rst}"}, page


@pytest.mark.parametrize("line", [line for line in shell_lines() if "coterie" in line])
def test_commands(line: str) -> None:
    """The subcommand is there, and so are its options."""
    if not HAS_CLI:
        pytest.skip("coterie.cli is not there")
    words = shlex.split(line, comments=True)
    called = words[words.index("coterie") + 1 :]
    options = {word.partition("=")[0] for word in called if re.match("--?[a-z]", word)}
    shown = set(re.findall(r"(?<!\S)--?[a-z][\w-]*", shown_help(called[0])))
    assert options <= shown, f"{line}: {called[0]} --help shows {sorted(shown)}"


@cache
def shown_help(command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", RUN, command, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    named = {m[1] for line in shell_lines() if (m := re.match(r"make (\w+)", line))}
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links(name: str) -> None:
    """Sphinx checks the links within docs/; these two are read in the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / target).exists(), target


def test_reference_has_every_public_name() -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in set(coterie.__all__) - {"__version__"}:
        assert f"coterie.{name}" in reference, name
