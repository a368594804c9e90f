"""Fail if a built page would load anything from elsewhere. `make docs` runs it on site/."""

import re
import sys
from pathlib import Path

# What a browser fetches by itself; an ordinary <a href> is not among it.
LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|data)=[\"']?(?:https?:)?//[^\"'>\s]+"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preload|preconnect|dns-prefetch|modulepreload|icon))"
    r"[^>]*?href=[\"']?(?:https?:)?//[^\"'>\s]+"
    r"|@import\s+[\"']?(?:https?:)?//[^\"';\s]+|url\(\s*[\"']?(?:https?:)?//[^\"')\s]+",
    re.IGNORECASE,
)


def main(folder: str) -> None:
    """Look through every page and style sheet."""
    files = [p for p in sorted(Path(folder).rglob("*")) if p.suffix in (".html", ".css")]
    if not files:
        sys.exit(f"{folder} holds no pages")
    found = [
        f"{path}: {hit[0]}"
        for path in files
        for hit in LOADS.finditer(path.read_text(encoding="utf-8"))
    ]
    if found:
        sys.exit("these would be loaded from elsewhere:\n" + "\n".join(found))
    print(f"{folder}/index.html is ready: {len(files)} files, all of it readable offline.")


if __name__ == "__main__":
    main(sys.argv[1])
