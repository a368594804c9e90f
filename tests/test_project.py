"""The files around the code agree with each other: workflows, hooks, versions, continuous integration."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / ".github").is_dir():
    pytest.skip("these files are in the repository only", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


class TestWorkflows:
    def test_every_supported_python_on_every_system(self) -> None:
        named = "Programming Language :: Python :: 3."
        supported = [c.split(" :: ")[-1] for c in PROJECT["classifiers"] if c.startswith(named)]
        matrix = parsed(ROOT / ".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
        assert matrix["python"] == supported
        assert PROJECT["requires-python"] == f">={supported[0]}"
        assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}

    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
    def test_make_has_what_they_run(self, path: Path) -> None:
        wanted = re.findall(r"run: make ([a-z-]+)", path.read_text(encoding="utf-8"))
        assert wanted
        for target in wanted:
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"make {target} is missing"

    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
    def test_they_may_only_read_unless_a_job_says_so(self, path: Path) -> None:
        workflow = parsed(path)
        assert workflow["permissions"] == {"contents": "read"}
        more = {
            n: job["permissions"] for n, job in workflow["jobs"].items() if "permissions" in job
        }
        assert more == ({"publish": {"id-token": "write"}} if path.name == "release.yml" else {})

    def test_nothing_is_published_before_all_tests_passed(self) -> None:
        jobs = parsed(ROOT / ".github/workflows/release.yml")["jobs"]
        before, waiting = {"publish"}, ["publish"]
        while waiting:
            needs = jobs[waiting.pop()].get("needs", [])
            waiting += [needs] if isinstance(needs, str) else needs
            before |= set(waiting)
        called = {jobs[name].get("uses", "") for name in before}
        assert "./.github/workflows/ci.yml" in called
        ours = parsed(ROOT / ".github/workflows/ci.yml")
        assert "workflow_call" in ours[True]  # YAML reads the key `on` as true
        assert any("pytest" in str(step) for step in ours["jobs"]["test"]["steps"])

    def test_a_release_keeps_no_password(self) -> None:
        assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text("utf-8")


def test_issue_templates_are_forms() -> None:
    folder = ROOT / ".github" / "ISSUE_TEMPLATE"
    forms = [path for path in folder.glob("*.yml") if path.name != "config.yml"]
    assert len(forms) >= 2
    for path in forms:
        form = parsed(path)
        assert {"name", "description", "body"} <= set(form)
        fields = [part for part in form["body"] if part["type"] != "markdown"]
        assert len({part["id"] for part in fields}) == len(fields) > 0


def test_pre_commit_runs_the_tools_of_make_check() -> None:
    (check,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    tools = re.findall(r"\$\(BIN\)/(ruff \w+|[\w-]+)", check)
    (repository,) = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in repository["hooks"]]
    assert [re.sub(r" --.*", "", entry) for entry in entries] == tools


@pytest.fixture
def lowest_versions() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lowest", ROOT / "tools" / "lowest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestLowestVersions:
    PROJECT: dict[str, Any] = {
        "name": "us",
        "dependencies": ["numpy>=1.26", "rich>=13,<20", "odd", 'old>=2; python_version < "3.0"'],
        "optional-dependencies": {
            "a": ["extra>=1.5", "us[b]"],
            "b": ["other[part]>=2", "us[a]"],
            "c": ["never>=9"],
        },
    }

    def test_lower_bounds_become_pins(self, lowest_versions: ModuleType) -> None:
        expected = ["numpy==1.26", 'old==2; python_version < "3.0"', "rich==13"]
        assert lowest_versions.lowest(self.PROJECT, []) == expected

    def test_extras_bring_those_they_name(self, lowest_versions: ModuleType) -> None:
        pins = lowest_versions.lowest(self.PROJECT, ["a"])
        assert {"extra==1.5", "other==2"} <= set(pins)
        assert not any(pin.startswith(("never", "us")) for pin in pins)

    def test_an_extra_that_is_not_there(self, lowest_versions: ModuleType) -> None:
        with pytest.raises(SystemExit, match="no extra 'd'"):
            lowest_versions.lowest(self.PROJECT, ["d"])

    def test_every_dependency_says_its_lowest_version(self) -> None:
        for line in PROJECT["dependencies"]:
            assert re.fullmatch(r"[\w-]+>=[\d.]+(post\d+)?(,<[\d.]+)?(; .+)?", line), line

    def test_wordllama_is_asked_for_once_on_every_machine(self) -> None:
        """With a wheel where there is one, else in pure Python; never built from its sources."""
        lines = [Requirement(line) for line in PROJECT["dependencies"] if "wordllama" in line]
        machines = [
            ("linux", "x86_64", "3.13", True),
            ("linux", "aarch64", "3.13", False),
            ("darwin", "arm64", "3.11", True),
            ("darwin", "x86_64", "3.12", True),
            ("darwin", "arm64", "3.14", False),
            ("win32", "AMD64", "3.13", True),
            ("win32", "ARM64", "3.13", False),
            ("linux", "x86_64", "3.14", False),
        ]
        for system, machine, python, has_wheel in machines:
            here = {"sys_platform": system, "platform_machine": machine, "python_version": python}
            (line,) = [line for line in lines if line.marker and line.marker.evaluate(here)]
            assert line.specifier.contains("0.4.0.post1") is has_wheel
            assert line.specifier.contains("0.2.2.post0")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
class TestContinuousIntegration:
    """`.ci/run` with stand-ins for everything it calls."""

    @staticmethod
    def run(tmp_path: Path, **fakes: str) -> subprocess.CompletedProcess[str]:
        bash = shutil.which("bash")
        assert bash is not None
        bin_, repository = tmp_path / "bin", tmp_path / "repository"
        (repository / ".ci").mkdir(parents=True)
        (repository / ".venv/bin").mkdir(parents=True)
        bin_.mkdir()
        shutil.copy(ROOT / ".ci" / "run", repository / ".ci" / "run")
        for name in ("dirname", "mkdir", "env"):
            (bin_ / name).symlink_to(str(shutil.which(name)))
        usual = {"make": 'echo "made $*"', "id": "echo 0", "timeout": 'shift; exec "$@"'}
        for name, body in {**usual, **fakes}.items():
            target = repository / ".venv/bin/python" if name == "python" else bin_ / name
            target.write_text(f"#!{bash}\n{body}\n")
            target.chmod(0o755)
        env = {"PATH": str(bin_), "HOME": str(tmp_path)}
        command = [bash, str(repository / ".ci" / "run")]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)

    def test_all_parts_on_a_bare_machine(self, tmp_path: Path) -> None:
        done = self.run(tmp_path, python="exit 0")
        assert done.returncode == 0, done.stderr
        made = re.findall(r"^made (.*)", done.stdout, re.MULTILINE)
        assert made == ["install", "check", "test-bench", "test", "build"]
        assert "install_browser did not work" in done.stdout

    @pytest.mark.parametrize("failing", ["check", "test-bench", "test", "build"])
    def test_a_part_that_fails(self, failing: str, tmp_path: Path) -> None:
        done = self.run(tmp_path, python="exit 0", make=f'[ "$1" != {failing} ]')
        assert done.returncode != 0
        assert "all parts passed" not in done.stdout

    def test_packages_that_cannot_be_installed(self, tmp_path: Path) -> None:
        done = self.run(tmp_path, python="exit 1", **{"apt-get": "exit 100"})
        assert done.returncode == 0
        assert done.stdout.count("did not work") == 2

    def test_nobody_but_root_installs_packages(self, tmp_path: Path) -> None:
        """Without a password for sudo, apt-get is not even tried."""
        note = tmp_path / "asked"
        fakes = {"apt-get": f"echo > {note}", "id": "echo 1000", "sudo": "exit 1"}
        assert self.run(tmp_path, python="exit 0", **fakes).returncode == 0
        assert not note.exists()

    def test_root_installs_a_browser(self, tmp_path: Path) -> None:
        note = tmp_path / "asked"
        done = self.run(tmp_path, python="exit 0", **{"apt-get": f'echo "$*" >> {note}'})
        assert done.returncode == 0
        assert "chromium chromium-driver" in note.read_text()


def test_the_scripts_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK) or os.name == "nt"


def test_the_source_distribution_has_what_its_tests_need() -> None:
    """Every folder that a test imports from, and every file that the first pages link to."""
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    include = packed["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    imported = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text("utf-8"), re.MULTILINE)
        if (ROOT / name).is_dir()
    }
    linked = {
        target.split("/")[0]
        for page in ("README.md", "CONTRIBUTING.md")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text("utf-8"))
    }
    assert "benchmarks" in imported | linked
    always = {"LICENSE", "pyproject.toml", ".gitignore"}  # hatchling adds these
    assert sorted((imported | linked) - always - {name.strip("/") for name in include}) == []
