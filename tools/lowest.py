"""Prints a constraints file with the lowest version of every dependency that pyproject.toml allows.

`make test-lowest` installs them. `numpy>=1.26` becomes `numpy==1.26`; requirements without a lower
bound are left to pip. The given extras add their requirements, including those of nested extras.
"""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def lowest(project: dict, extras: list[str]) -> list[str]:
    """Pins for the dependencies of a [project] table and of the given extras."""
    optional = project.get("optional-dependencies", {})
    waiting, seen = list(extras), set()
    lines = list(project["dependencies"])
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        if extra not in optional:
            sys.exit(
                f"pyproject.toml has no extra {extra!r}. It has: {', '.join(sorted(optional))}."
            )
        seen.add(extra)
        for line in optional[extra]:
            requirement = Requirement(line)
            if requirement.name == project["name"]:
                waiting.extend(sorted(requirement.extras))
            else:
                lines.append(line)
    return sorted(filter(None, map(_pin, lines)), key=str.lower)


def _pin(line: str) -> str:
    requirement = Requirement(line)
    bounds = [part.version for part in requirement.specifier if part.operator == ">="]
    marker = f"; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}=={bounds[0]}{marker}" if bounds else ""


if __name__ == "__main__":
    with (ROOT / "pyproject.toml").open("rb") as file:
        print("\n".join(lowest(tomllib.load(file)["project"], sys.argv[1:])))
