"""The scripts in examples/ run from an empty folder and show what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
SHOWS = {
    "expected_topics.py": [r"expected: Kantine", r"expected: Weg zur Arbeit", r"answers, new: "],
    "new_texts.py": [
        r"'my parcel is late again': (?!no known)",
        r"'Ünbekannt': no known word",
        r"month 3: .*\n +No drift: ",
        r"month 6: .*\n +Drift: .*Fit again",
    ],
    "tickets.py": [r"tickets: ", r"     example: ", r"Written: "],
}


def test_every_script_is_tested() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHOWS)


@pytest.mark.parametrize("name", SHOWS)
def test_example(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    for pattern in SHOWS[name]:
        assert re.search(pattern, done.stdout), f"{pattern} is not in:\n{done.stdout}"
    if name == "tickets.py":
        assert (tmp_path / "tickets" / "report.html").stat().st_size > 10_000
        header = (tmp_path / "tickets" / "tickets.csv").read_text(encoding="utf-8").splitlines()[0]
        assert header == (
            "id,created_at,channel,body,topic,cluster,name,probability,outlier_score,trust"
        )
    else:
        assert not any(tmp_path.iterdir()), "only tickets.py writes to the folder it runs in"
