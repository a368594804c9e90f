"""Tries an installed coterie: fit, save, load, predict, report, command line.

`make build` runs it in an empty environment, outside of the checkout. So it fails if a file or a
dependency is missing from the wheel that the development environment happens to have.
"""

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import coterie
from coterie import GSDMM

FRUIT = [["apple", "pear", "plum"], ["pear", "plum", "cherry"], ["apple", "cherry", "plum"]]
TOOLS = [["hammer", "nail", "saw"], ["saw", "nail", "drill"], ["hammer", "drill", "saw"]]
DOCUMENTS = (FRUIT + TOOLS) * 5


def main() -> None:
    """Fit, save, load and predict; raise AssertionError if the results differ."""
    where = Path(coterie.__file__).resolve()
    assert where.is_relative_to(Path(sys.prefix).resolve()), f"not the installed wheel: {where}"
    assert (where.parent / "py.typed").is_file(), "the wheel lacks py.typed"

    fitted = GSDMM(n_clusters=10, n_sweeps=20, random_state=0).fit(DOCUMENTS)
    assert len(fitted.labels_) == len(DOCUMENTS)
    labels = fitted.predict(DOCUMENTS)
    is_fruit = np.array([words in FRUIT for words in DOCUMENTS])
    assert not set(labels[is_fruit]) & set(labels[~is_fruit]), "fruit and tools share a cluster"

    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "try.coterie")
        loaded = GSDMM.load(Path(folder) / "try.coterie")
    np.testing.assert_array_equal(loaded.predict(DOCUMENTS), labels)
    one_by_one = [loaded.predict([words])[0] for words in DOCUMENTS[:6]]
    np.testing.assert_array_equal(one_by_one, labels[:6])

    texts = [" ".join(words) for words in DOCUMENTS]
    groups = coterie.cluster(texts)
    with tempfile.TemporaryDirectory() as folder:
        assert groups.report(Path(folder) / "report.html").stat().st_size > 10_000
        groups.save(Path(folder) / "model")
        again = coterie.load(Path(folder) / "model")
    np.testing.assert_array_equal(again.predict(texts), groups.labels)
    command = Path(sysconfig.get_path("scripts"), "coterie")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert coterie.__version__ in said.stdout

    print(f"coterie {coterie.__version__} works from its wheel ({fitted.n_clusters_} clusters).")


if __name__ == "__main__":
    main()
