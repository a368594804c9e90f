"""Pages: what a paper hands to its page, templates filled with tables, and where the rows come from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from .claims import Claim
from .copies import IN_BLOCKS
from .drawing import Pictures, Plot, image
from .store import Options, Rows

EMPTY = "Not measured yet."


class Paper(NamedTuple):
    """One paper: `run` measures it; the others show the rows there are.

    `tables` are put into the template `details.md` by their names, `picture` is the one that the
    overview shows, `takes` is what --only may name, and `files` are those of its rows."""

    name: str
    title: str
    citation: str
    picture: str
    files: tuple[str, ...]
    takes: tuple[str, ...]
    run: Callable[[Options], None]
    tables: Callable[[Rows], dict[str, str]]
    plots: Callable[[Rows], list[Plot]]
    claims: Callable[[Rows], list[Claim]]

    @classmethod
    def of(cls, module: ModuleType) -> Paper:
        """The paper of a folder: its functions, and what `paper.toml` says of it."""
        name = module.__name__.rpartition(".")[2]
        said = numbers(str(module.__file__))
        named = (said["title"], said["citation"], said["picture"])
        files = getattr(module, "FILES", (f"papers/{name}",))
        shown = (module.tables, module.plots, module.claims)
        return cls(name, *named, files, module.TAKES, module.run, *shown)


def numbers(module: str) -> dict[str, Any]:
    """The numbers that a paper printed: `paper.toml` in the folder of this module."""
    text = Path(module).with_name("paper.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def filled(
    template: str, tables: Mapping[str, str], pictures: Pictures | None = None, folder: str = ""
) -> str:
    """A template in which `{{name}}` is replaced by the table, the figure or the picture."""

    def text(match: re.Match[str]) -> str:
        name = match[1]
        if pictures and name in pictures:
            return image(name, pictures[name], folder)
        if re.search(r"-(figure|table)-", name):
            return EMPTY
        return tables[name] or EMPTY

    tables = {"in_blocks": IN_BLOCKS, **tables}
    return re.sub(r"\{\{([\w-]+)\}\}", text, template)


def provenance(found: Mapping[str, Mapping[str, Any]]) -> str:
    """On which machine, and with which commits of coterie, the rows of each file were measured."""
    named: dict[str, list[str]] = {}
    for name, result in found.items():
        commits = sorted({row["commit"] for row in result["rows"].values() if "commit" in row})
        machine = "\n".join(f"- {key}: {value}" for key, value in result["machine"].items())
        named.setdefault(machine, []).append(f"{name} {' '.join(commits)}")
    parts = [f"{machine}\n- commits: {', '.join(of)}" for machine, of in named.items()]
    return "## Where it was measured\n\n" + ("\n\nand\n\n".join(parts) or EMPTY) + "\n"
