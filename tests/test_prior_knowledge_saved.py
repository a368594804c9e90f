"""Seeded and promoted models on disk: large sources, what comes back, and what is damaged."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import coterie
from coterie import GPUDMM, GSDMM, GSDPMM, TSDPMM, io
from coterie.errors import InvalidInput, ModelFileError

TEXTS = ["oven bread dough", "bread dough bake", "bike ride gear", "gear bike hill"] * 4
VECTORS = {"bread": [1.0, 0.1], "dough": [0.9, 0.2], "bike": [0.1, 1.0], "gear": [0.0, 1.0]}
SEEDS = {"baking": ["bread", "oven"], "sea": {"hill": 1, "tide": 1}}


def test_large_parameters_do_not_make_a_folder_that_cannot_be_opened(tmp_path: Path) -> None:
    rows = np.ones((2000, 300)) * np.arange(1, 2001)[:, None]
    vectors = {f"word{i}": row / 3.0 for i, row in enumerate(rows)}
    vectors |= {word: np.resize(row, 300) for word, row in VECTORS.items()}
    seeds = {"baking": {"examples": ["bread " + "oven " * 500] * 1000}}
    for model in (GPUDMM(4, word_vectors=vectors, n_sweeps=2), TSDPMM(seeds, n_sweeps=2)):
        model.fit(TEXTS).save(tmp_path / "m")
        assert (tmp_path / "m" / io.CONFIG).stat().st_size < 2**17
        loaded = coterie.load(tmp_path / "m")
        assert (loaded.predict(TEXTS) == model.predict(TEXTS)).all()


def test_short_parameters_come_back(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in VECTORS.items()]
    path.write_text("".join(lines))
    model = GSDPMM(seeds=SEEDS, word_vectors=path, n_sweeps=2, random_state=1).fit(TEXTS)
    model.save(tmp_path / "m")
    again = GSDPMM.load(tmp_path / "m")
    assert (again.seeds, again.word_vectors) == (SEEDS, None)  # a path is no business of a folder
    with pytest.raises(InvalidInput, match="its word_vectors are not saved"):
        again.fit(TEXTS)
    assert (again.set_params(word_vectors=path).fit(TEXTS).labels_ == model.labels_).all()


def test_what_yesterday_had_and_today_lacks_may_be_millions_of_words(tmp_path: Path) -> None:
    words = [f"{'word' * 100}{i}" for i in range(3000)]
    yesterday = GSDMM(1, n_sweeps=1, random_state=0).fit([[*words, "bread"]] * 2)
    today = TSDPMM(yesterday, n_sweeps=1).fit([text.split() for text in TEXTS])
    today.save(tmp_path / "m")
    assert coterie.load(tmp_path / "m").seed_report()[0].unknown == today.seed_report()[0].unknown
    assert (tmp_path / "m" / io.CONFIG).stat().st_size < 2**17


def test_related_words_come_back_and_are_never_an_earlier_fits(tmp_path: Path) -> None:
    model = GPUDMM(4, word_vectors=VECTORS, n_sweeps=2, random_state=1).fit(TEXTS)
    model.save(tmp_path / "m")
    again = coterie.load(tmp_path / "m")
    assert isinstance(again, GPUDMM)
    assert again.related_.word.tolist() == model.related_.word.tolist()
    assert again.related_.ptr.tolist() == model.related_.ptr.tolist()
    assert again.related_[2:] == model.related_[2:]
    assert not hasattr(model.set_params(word_vectors=None).fit(TEXTS), "related_")


def forge(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the arrays of a saved model, with checksums that fit."""
    arrays = load((folder / io.ARRAYS).read_bytes())
    change(arrays)
    (folder / io.ARRAYS).write_bytes(save(arrays))
    config = json.loads((folder / io.CONFIG).read_text())
    config["files"][io.ARRAYS] = hashlib.sha256((folder / io.ARRAYS).read_bytes()).hexdigest()
    config["checksum"] = io._config_digest(config)
    (folder / io.CONFIG).write_text(json.dumps(config))


def text(value: Any) -> Any:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


CHANGES: list[Callable[[dict[str, Any]], Any]] = [
    lambda a: a["seed_word"].__setitem__(0, 10**6),
    lambda a: a["seed_word"].__setitem__(0, -1),
    lambda a: a["seed_count"].__setitem__(0, 0),
    lambda a: a["seed_ptr"].__setitem__(1, 99),
    lambda a: a["seed_ptr"].__setitem__(1, 0),
    lambda a: a["seed_weight"].__setitem__(0, np.nan),
    lambda a: a["seed_weight"].__setitem__(0, -1.0),
    lambda a: a["seed_cluster"].__setitem__(0, 10**6),
    lambda a: a["seed_cluster"].__setitem__(0, a["seed_cluster"][1]),
    lambda a: a.pop("seed_count"),
    lambda a: a.update(seed_weight=a["seed_weight"].astype(np.float32)),
    lambda a: a.update(seed_text=text([["one"], [[]]])),
    lambda a: a.update(seed_text=text([["one", 2], [[], []]])),
    lambda a: a.update(seed_text=text([["one", "two"], [[], [1]]])),
    lambda a: a.update(seed_text=text(5)),
    lambda a: a.update(seed_text=a["seed_text"][:-1]),
    lambda a: a["relate_word"].__setitem__(0, 10**6),
    lambda a: a["relate_ptr"].__setitem__(1, 99),
    lambda a: a.pop("relate_ptr"),
    lambda a: a["promoting_ptr"].__setitem__(1, 99),
    lambda a: a.update(promoting_word=a["promoting_word"] + 10**6),
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_damaged_seeds_and_relations_are_refused(change: Any, tmp_path: Path) -> None:
    model = GSDPMM(seeds=SEEDS, word_vectors=VECTORS, n_sweeps=3, random_state=1).fit(TEXTS)
    assert model._promoting.nnz
    model.save(tmp_path / "m")
    coterie.load(tmp_path / "m")
    forge(tmp_path / "m", change)
    with pytest.raises(ModelFileError, match="is damaged"):
        coterie.load(tmp_path / "m")
