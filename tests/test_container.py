"""The Dockerfile without Docker: each step is done in a scratch root, as its user and in its folder.

Users, owners, modes, paths and variables are real. Packages are stood in for: scripts that do to files
what pip and coterie do. The commands that the image runs while it is built are also run outside of it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "Dockerfile").is_file():
    pytest.skip("the Dockerfile is in the repository only", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SYSTEM = ("sh", "cat", "chmod", "cp", "install", "mkdir", "mktemp", "mv", "rm", "useradd")
FOLDERS = {"etc": 0o755, "dev": 0o755, "home": 0o755, "root": 0o700, "tmp": 0o1777}
FOLDERS |= dict.fromkeys(("usr/bin", "usr/local/bin", "usr/local/lib", "var/cache"), 0o755)
STAND_INS = {
    # makes a wheel of the sources; or reads the files it is given, and installs our command
    "bin/pip": r"""
for word; do
  case $before in
    --wheel-dir) mkdir -p "$word"; : > "$word/coterie-1.whl";;
    -c) cat "$word";;
  esac
  case $word in
    .) cat pyproject.toml src/coterie/__init__.py;;
    *.whl*) cat "${word%%[*}"; cp /usr/local/lib/coterie /usr/local/bin;;
  esac
  before=$word
done""",
    # writes a table, as our line of Python does
    "bin/python": ": > t.csv",
    # keeps compiled code as numba does, a new file that is renamed; and writes its output
    "lib/coterie": r"""
mkdir -p "$NUMBA_CACHE_DIR/kernels"
: > "$NUMBA_CACHE_DIR/kernels/new"
mv -f "$NUMBA_CACHE_DIR/kernels/new" "$NUMBA_CACHE_DIR/kernels/gibbs.nbi"
for word; do
  if [ "$before" = -o ]; then : > "$word"; fi
  before=$word
done""",
}


def instructions() -> list[tuple[str, str]]:
    """(FROM, ...), (RUN, ...): continued lines joined, comments left out."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    made = [line.partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in made]


STEPS = instructions()


def of(word: str) -> list[str]:
    return [rest for step, rest in STEPS if step == word]


class Stage:
    """An image while it is made: the folder that its programs see as /, and how they are run."""

    def __init__(self, root: Path) -> None:
        self.root, self.user, self.folder = root, "root", "/"
        self.env = {"PATH": "/usr/local/bin:/usr/bin"}
        for name, mode in FOLDERS.items():
            (root / name).mkdir(parents=True, exist_ok=True)
            (root / name).chmod(mode)
        (root / "bin").symlink_to("usr/bin")
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (root / "etc/group").write_text("root:x:0:\n")
        (root / "dev/null").touch()
        for name in SYSTEM:
            program = str(shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"))
            needs = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
            copy(Path(program), root / "usr/bin" / name)
            for library in re.findall(r"(/\S+) \(0x", needs):
                copy(Path(library), root / library[1:])
        for name, script in STAND_INS.items():
            (root / "usr/local" / name).write_text(f"#!/bin/sh\nset -e\n{script}\n")
            (root / "usr/local" / name).chmod(0o755)

    def at(self, path: str) -> Path:
        """Where a path of the image lies on this machine."""
        return self.root / os.path.join(self.folder, path).lstrip("/")

    def run(self, line: str, user: str = "", folder: str = "") -> None:
        """Run a line of the shell, as RUN does."""
        numbers, home = self._identity(user or self.user)
        into = ["/bin/sh", "-c", 'cd "$0" && exec /bin/sh -c "$1"', folder or self.folder, line]
        chroot = str(shutil.which("chroot", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"))
        done = subprocess.run(
            [chroot, f"--userspec={numbers}", "--groups=", str(self.root), *into],
            env={**self.env, "HOME": home},
            umask=0o022,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"as {user or self.user}: {line}\n{done.stderr}"

    def _identity(self, user: str) -> tuple[str, str]:
        """("uid:gid", home) of a user of the image, or of a number that it does not know."""
        for line in self.at("/etc/passwd").read_text().splitlines():
            name, _, uid, gid, _, home, _ = line.split(":")
            if user in (name, uid):
                return f"{uid}:{gid}", home
        assert user.isdigit(), f"the image has no user {user}"
        return f"{user}:{user}", "/"

    def copy(self, words: str, stages: dict[str, "Stage"]) -> None:
        """COPY [--from=STAGE] [--chown=USER] SOURCE ... TARGET."""
        options = dict(re.findall(r"--(\w+)=(\S+)", words))
        assert set(options) <= {"from", "chown"}, words
        *sources, target = re.sub(r"--\S+ ", "", words).split()
        owner, group = 0, 0
        if "chown" in options:
            owner, group = map(int, self._identity(options["chown"])[0].split(":"))
        for source in sources:
            found = stages[options["from"]].at(source) if "from" in options else ROOT / source
            to = self.at(target) / found.name if target.endswith("/") else self.at(target)
            if found.is_dir():  # Docker copies what is in a folder, not the folder
                to = self.at(target)
                shutil.copytree(
                    found, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                copy(found, to)
            for path in [to, *to.rglob("*")]:
                os.chown(path, owner, group)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The last stage, after all steps; a step that does not work fails every test of it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not sys.platform.startswith("linux"):
        pytest.skip("only root, on Linux, can be several users")
    missing = [name for name in ("ldd", "chroot", *SYSTEM) if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for word, rest in STEPS:
        if word == "FROM":
            stage = Stage(tmp_path_factory.mktemp("root"))
            stage.root.chmod(0o755)
            stages[rest.partition(" AS ")[2] or "last"] = stage
        assert stage is not None
        if word in ("ENV", "ARG"):
            stage.env |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif word == "USER":
            stage.user = rest
        elif word == "WORKDIR":  # made by root, whoever the user is
            stage.folder = rest
            stage.at(rest).mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            stage.copy(rest, stages)
        elif word == "RUN":
            stage.run(rest)
    return stages["last"]


class TestReplayed:
    def test_every_step_can_be_done_by_its_user(self, image: Stage) -> None:
        assert image.user not in ("root", "0")
        (entry,) = json.loads(of("ENTRYPOINT")[0])
        assert os.access(image.at(f"/usr/local/bin/{entry}"), os.X_OK)
        assert any(image.at(image.env["NUMBA_CACHE_DIR"]).rglob("*.nbi")), "nothing was compiled"
        assert not any(image.at("/tmp").iterdir()), "what the steps needed is removed"

    def test_its_user_writes_where_it_starts(self, image: Stage) -> None:
        image.run("coterie fit reviews.csv -o reviews")
        assert image.at("reviews").exists()

    def test_any_other_user_has_the_compiled_code_and_can_renew_it(self, image: Stage) -> None:
        """`docker run --user`, on another processor, with a folder of the user's as /data."""
        image.at("/data-of-4321").mkdir()
        os.chown(image.at("/data-of-4321"), 4321, 4321)
        image.run("coterie fit reviews.csv -o reviews", "4321", "/data-of-4321")
        image.run("coterie fit reviews.csv -o again")  # and the user of the image once more


def test_only_known_instructions() -> None:
    known = {"FROM", "WORKDIR", "COPY", "RUN", "ARG", "ENV", "USER", "ENTRYPOINT", "CMD"}
    assert {word for word, _ in STEPS} <= known


def test_it_starts_from_a_python_that_we_support() -> None:
    bases = {rest.split()[0] for rest in of("FROM")}
    (base,) = bases
    version = re.fullmatch(r"python:(3\.\d+)-slim", base)
    assert version is not None
    assert f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]


def test_what_is_copied_exists_and_reaches_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    sent = [line[1:] for line in lines if line.startswith("!")]
    copied = [word for rest in of("COPY") if "--from" not in rest for word in rest.split()[:-1]]
    assert sorted(copied) == sorted(sent)
    for path in copied:
        assert (ROOT / path).exists(), path
    assert "*" in lines


def test_the_build_has_what_pyproject_names() -> None:
    copied = " ".join(of("COPY"))
    assert PROJECT["readme"] in copied
    for path in PROJECT["license-files"]:
        assert path in copied


def test_the_entry_point_is_our_command() -> None:
    (entry,) = of("ENTRYPOINT")
    assert json.loads(entry) == ["coterie"]
    assert "coterie" in PROJECT["scripts"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_the_commands_that_warm_it_up_work(tmp_path: Path) -> None:
    """The line itself, by whoever runs the tests; compiled code is where the other tests keep it."""
    (line,) = [rest for rest in of("RUN") if "coterie fit" in rest]
    commands = [part for part in line.split(" && ") if part.startswith(("python ", "coterie "))]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", " && ".join(commands)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
