"""Writes what the Python blocks of a page print below them: `make outputs` runs it on the tutorials.

A block that prints is followed by a block without a language, which holds its output. `tests/test_docs.py`
fails if one of them is out of date.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"(^```python\n(.*?)^```\n)(\n```\n.*?^```\n)?", re.MULTILINE | re.DOTALL)
TUTORIALS = Path(__file__).resolve().parents[1] / "docs" / "tutorials"


def updated(page: Path) -> str:
    """The text of a page with the present outputs. Its code runs in the present folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")

    def shown(found: re.Match[str]) -> str:
        line = text.count("\n", 0, found.start(2))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + found[2], str(page), "exec"), namespace)
        said = "\n".join(line.rstrip() for line in printed.getvalue().rstrip().splitlines())
        return found[1] + (f"\n```\n{said}\n```\n" if said else "")

    return BLOCK.sub(shown, text)


def main() -> None:
    """Update all tutorials."""
    for page in sorted(TUTORIALS.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = updated(page)
            os.chdir(TUTORIALS)
        changed = text != page.read_text(encoding="utf-8")
        page.write_text(text, encoding="utf-8")
        print(f"{page.name}: {'updated' if changed else 'up to date'}")


if __name__ == "__main__":
    sys.exit(main())
