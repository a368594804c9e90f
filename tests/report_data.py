"""Made-up report dicts for tests: any number of clusters, calm or hostile texts, own words only."""

import random
from typing import Any

SUBJECTS = (
    "train late platform delay ticket",
    "bread flour oven yeast crust",
    "goal keeper match penalty league",
    "invoice refund payment bank card",
    "garden rose soil seed spring",
    "Zug Gleis Fahrplan Verspätung Bahnhof",
    "列车 车站 时间 晚点 车票",
    "قطار محطة تذكرة تأخير رصيف",
)

# Each tries something else: markup, attributes, ends of script and comment, template syntax, addresses,
# controls, direction overrides, line separators, half a character, the renderer's own mark.
HOSTILE = (
    "<script>alert('owned')</script>",
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '<svg onload="alert(1)"><a href="javascript:alert(1)">x</a></svg>',
    "javascript:alert(1)",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<style>body{display:none}</style><link rel=stylesheet href=https://example.org/x.css>",
    "{{ 7 * 7 }} {% raw %} ${1+1} `x`",
    "]]></title></textarea></template></noscript><b>bold</b>",
    "&lt;b&gt; &amp; &#x202e; &",
    "bell\x07 escape\x1b[31m null\x00 delete\x7f next\x85 c1\x9b",
    "right \u202egnp.exe\u202c to \u2067left\u2069",
    "line\u2028paragraph\u2029end \ufeff \ufffe \ud800 half",
    "@@coterie-data@@",
    "z" + "\u0335" * 200 + " zalgo",
    "unbroken" * 400,
)


def report(n_clusters: int = 8, *, hostile: bool = False, chars: int = 0) -> dict[str, Any]:
    """A whole dict; `chars` makes every example about that long."""
    draw = random.Random(n_clusters)

    def text(k: int) -> str:
        words = SUBJECTS[k % len(SUBJECTS)].split()
        length = chars // 7 if chars else 8
        said = " ".join(draw.choice([*words, "and", "the", "with"]) for _ in range(length))
        return f"{draw.choice(HOSTILE)} {said}" if hostile else said

    def name(k: int) -> str:
        words = SUBJECTS[k % len(SUBJECTS)].split()
        return HOSTILE[k % len(HOSTILE)] if hostile else " · ".join(draw.sample(words, 3))

    clusters = [_cluster(k, n_clusters, name(k), text, draw) for k in range(n_clusters)]
    odd = HOSTILE[1] if hostile else "plain"
    return {
        "title": f"Sample {odd}",
        "version": "0.0",
        "notes": [f"A note: {odd}"],
        "overview": {
            "documents": 12_345,
            "without_words": 3,
            "clusters": n_clusters,
            "words": 98_765,
            "vocabulary": 4_321,
            "outliers": 40,
            "settled": not hostile,
            "reason": f"The passes asked for were used up ({odd}).",
            "seconds": 12.5,
            "agreement": 0.997,
            "chosen": f"The number of clusters was found ({odd}).",
            "doubt_below": 0.4,
        },
        "settings": [{"name": "beta", "value": "0.1", "why": f"learned ({odd})"}],
        "clusters": clusters,
        "trace": [
            {
                "sweep": i + 1,
                "clusters": n_clusters + 50 // (i + 1),
                "moved": 9000 // (i + 1),
                "log_likelihood": -5.0 - 1.0 / (i + 1),
                "seconds": 0.1,
            }
            for i in range(20)
        ],
        "outliers": [
            {"row": f"{i}{odd}", "text": text(i), "score": 5.0 - i / 10, "cluster": i % 9 - 1}
            for i in range(40)
        ],
        "texts": _texts(n_clusters, text),
        "dial": _dial(n_clusters, name),
        "no_dial": "",
        "charts": _charts(n_clusters, odd, name),
        "trend": _trend(n_clusters, odd),
        "seeds": [
            {"name": odd, "cluster": 0, "texts": t, "gained": [odd], "lost": [], "unknown": ["w"]}
            for t in (3, 0)
        ],
    }


def _texts(n_clusters: int, text: Any) -> dict[str, Any]:
    """Four texts per cluster; the finest clusters are two per cluster."""
    cluster = [k for k in range(n_clusters) for _ in range(4)]
    return {
        "total": 4 * n_clusters,
        "row": [str(i) for i in range(4 * n_clusters)],
        "text": [text(k) for k in cluster],
        "cluster": cluster,
        "leaf": [2 * k + i // 2 for k in range(n_clusters) for i in range(4)],
        "id": "row",
        "columns": {},
        "sure": [99 - i for _ in range(n_clusters) for i in range(4)],
        "x": [300 * (k % 31) + 60 * i for k in range(n_clusters) for i in range(4)],
        "y": [100 + 90 * (k // 31) for k in cluster],
    }


def _charts(n_clusters: int, odd: str, name: Any) -> list[dict[str, Any]]:
    """One by a column, one over time."""
    common = {"groups": n_clusters, "parts": [odd, "b"], "lines": [odd], "notes": []}

    def rows(state: str) -> list[dict[str, Any]]:
        each = {"counts": [3, 5], "share": [0.25, 0.5], "marks": [2, -1], "state": state}
        return [{**each, "cluster": k, "name": name(k)} for k in range(min(n_clusters, 30))]

    return [
        {**common, "column": odd, "every": "", "rows": rows("")},
        {**common, "column": "day", "every": "month", "rows": rows("growing")},
    ]


def _trend(n_clusters: int, odd: str) -> dict[str, Any]:
    """Three periods; of the halves of a cluster, one lies in the first period, one in the last."""
    n = 2 * n_clusters
    return {
        "column": "day",
        "every": "month",
        "parts": ["2025-01", "2025-02", odd],
        "totals": [4 * n_clusters, 0, 4 * n_clusters],
        "recent": 2,
        "counts": [[1, 0, 3]] * n_clusters,
        "states": ["growing"] * n_clusters,
        "leaves": [[0, 2] if leaf % 2 else [2, 2] for leaf in range(n)],
        "nodes": ["gone" if i % 2 else "new" for i in range(n)] + ["steady"] * (n - 1),
    }


def _dial(n_clusters: int, name: Any) -> dict[str, Any] | None:
    """First the halves of each cluster are joined, then everything into the first one."""
    if n_clusters < 2:
        return None
    n = 2 * n_clusters
    joins = [[2 * k, 2 * k + 1] for k in range(n_clusters)]
    joins += [[0, 2 * k] for k in range(1, n_clusters)]
    values = sorted({2, 3, n_clusters, n_clusters + 1, n})
    return {
        "fitted": n_clusters,
        "values": values,
        "stops": [3],
        "agreement": {str(value): 0.8 for value in values},
        "sizes": [2] * n,
        "joins": joins,
        "nodes": [
            {"name": name(i), "words": [{"word": name(i), "weight": 1.0, "count": i}]}
            for i in range(2 * n - 1)
        ],
    }


def _cluster(k: int, n: int, name: str, text: Any, draw: random.Random) -> dict[str, Any]:
    return {
        "id": k,
        "name": name,
        "size": 5000 // (k + 1) + 1,
        "share": 1 / (k + 2),
        "coherence": None if k % 5 == 4 else round(draw.uniform(-0.2, 0.9), 3),
        "trust": None if k % 7 == 6 else round(draw.uniform(0.1, 1.0), 3),
        "words": [
            {"word": word, "weight": 1.0 / (j + 1), "count": 1000 // (j + 1)}
            for j, word in enumerate([name, *(SUBJECTS[k % len(SUBJECTS)].split() * 2)][:10])
        ],
        "examples": [
            {"row": f"{k}-{i}", "probability": 0.97, "parts": _parts(text(k), draw)}
            for i in range(3)
        ],
        "x": (k % 31) / 30,
        "y": (k // 31) / max(n // 31, 1),
    }


def _parts(text: str, draw: random.Random) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for word in text.split(" "):
        parts += [
            {"text": word, "weight": draw.choice([0.0, 0.0, 0.3, 0.9])},
            {"text": " ", "weight": 0.0},
        ]
    return parts
