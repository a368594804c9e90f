"""The Dockerfile, without Docker: what it copies exists, it runs as a user, its commands are ours."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from test_docs import shown_help

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "Dockerfile").is_file():
    pytest.skip("the Dockerfile is in the repository only", allow_module_level=True)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


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


def test_it_compiles_and_runs_as_a_user_who_is_not_root() -> None:
    words = [word for word, _ in STEPS]
    user = words.index("USER")
    assert of("USER") == ["coterie"]
    warm = next(i for i, (_, rest) in enumerate(STEPS) if "coterie fit" in rest)
    assert user < warm < words.index("ENTRYPOINT")
    assert any("useradd" in rest and " coterie" in rest for rest in of("RUN"))


def test_the_cache_is_named_before_it_is_filled() -> None:
    (cache,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", " ".join(of("ENV")))
    made = next(i for i, (_, rest) in enumerate(STEPS) if f"mkdir --mode=1777 {cache}" in rest)
    warm = next(i for i, (_, rest) in enumerate(STEPS) if "coterie fit" in rest)
    named = next(i for i, (_, rest) in enumerate(STEPS) if f"NUMBA_CACHE_DIR={cache}" in rest)
    assert named < made < warm
    assert f"chmod -R a+rwX {cache}" in STEPS[warm][1]


def test_the_entry_point_is_our_command() -> None:
    (entry,) = of("ENTRYPOINT")
    assert json.loads(entry) == ["coterie"]
    assert "coterie" in PROJECT["scripts"]


def test_the_commands_that_warm_it_up_are_there() -> None:
    warm = next(rest for rest in of("RUN") if "coterie fit" in rest)
    commands = [shlex.split(part) for part in warm.split(" && ")]
    assert any("datasets.tickets" in words[-1] for words in commands if words[0] == "python")
    ours = [words[1:] for words in commands if words[0] == "coterie"]
    assert [words[0] for words in ours] == ["fit", "fit", "predict"]
    for command, *words in ours:
        options = {word for word in words if word.startswith("-")}
        assert options <= set(re.findall(r"(?<!\S)--?[a-z][\w-]*", shown_help(command)))
