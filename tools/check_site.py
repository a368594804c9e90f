"""Fails if a built page would load anything from the network. `make docs` runs it on site/."""

import re
import sys
from pathlib import Path

# Everything that a browser loads automatically; ordinary links are not included.
LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|data)=[\"']?(?:https?:)?//[^\"'>\s]+"
    r"|<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preload|preconnect|dns-prefetch|modulepreload|icon))"
    r"[^>]*?href=[\"']?(?:https?:)?//[^\"'>\s]+"
    r"|@import\s+[\"']?(?:https?:)?//[^\"';\s]+|url\(\s*[\"']?(?:https?:)?//[^\"')\s]+",
    re.IGNORECASE,
)


def main(folder: str) -> None:
    """Check every page and style sheet."""
    files = [p for p in sorted(Path(folder).rglob("*")) if p.suffix in (".html", ".css")]
    if not files:
        sys.exit(f"{folder} contains no pages")
    found = [
        f"{path}: {hit[0]}"
        for path in files
        for hit in LOADS.finditer(path.read_text(encoding="utf-8"))
    ]
    if found:
        sys.exit("these would be loaded from the network:\n" + "\n".join(found))
    print(f"{folder}/index.html is ready: {len(files)} files that work offline.")


if __name__ == "__main__":
    main(sys.argv[1])
