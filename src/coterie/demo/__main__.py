"""`python -m coterie.demo [folder]`."""

import sys
from pathlib import Path

from rich.console import Console

from coterie.demo import run

if __name__ == "__main__":
    run(Path(sys.argv[1] if len(sys.argv) > 1 else "coterie-demo"), Console())
