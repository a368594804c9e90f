"""A vector per token, and a document as the plain mean of its tokens: wordllama, model2vec.

No weights by frequency, no special tokens, no cutting short. Means are computed in double precision,
token after token, so the vector of a text does not depend on the texts around it. (Sums of a table in
half precision, as that of wordllama, are exact.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.embedders import _files
from coterie.embedders._base import Progress, Rows, Vectors, about, batches, checked_texts
from coterie.embedders._encode import Encoder, cuts_at_spaces, unknown_id
from coterie.embedders._rows import Ptr, Table, TokenRows, Tokens
from coterie.errors import InvalidInput, Unsupported
from coterie.text._numbering import are_many

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_PACKAGE = "wordllama>=0.2.2,<0.4.1"  # the releases that have this table
_TABLE_NAMES = ("embeddings", "embedding.weight")  # of model2vec, of sentence-transformers
_MORE = 4  # times as many texts per batch where there are many: fewer changes between threads


class TokenTable:
    """An embedder that averages the rows of a table over the tokens of a text."""

    def __init__(self, spec: str, name: str, version: str, weights: Path, tokenizer: Path) -> None:
        self.spec: str | None = spec
        self.name = name
        self.version = version
        arrays = _files.read_arrays(weights)
        self._tokenizer, settings = _files.read_tokenizer(tokenizer)
        self._table, self._row_of, self._weight_of = _parts(arrays, weights)
        self._check_ids(weights, tokenizer)
        self._cuts_at_spaces = cuts_at_spaces(settings)
        self._unknown = unknown_id(self._tokenizer, settings)
        self.n_dimensions = int(self._table.shape[1])
        self.checksum = _files.digest_of_table(settings, arrays)

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """The mean vector of each text's tokens; zeros where there is none."""
        texts = checked_texts(texts)
        vectors = np.zeros((len(texts), self.n_dimensions), np.float32)
        end = 0
        for tokens in self._encoded(texts, progress):
            start, end = end, end + tokens[0].size - 1
            self._means([tokens]).write(vectors[start:end])
        return vectors

    def rows(self, texts: Sequence[str], progress: Progress | None = None) -> Rows:
        """As `embed`, but vectors are made when they are read; until then there are only the tokens.

        Of long texts the vectors are kept, which then are smaller than the tokens.
        """
        parts: list[Tokens | Vectors] = []
        for tokens in self._encoded(checked_texts(texts), progress):
            vectors = np.empty((tokens[0].size - 1, self.n_dimensions), np.float32)
            long = tokens[1].size > vectors.size
            if long:
                self._means([tokens]).write(vectors)
            parts.append(vectors if long else tokens)
        return self._means(parts)

    def _means(self, parts: Sequence[Tokens | Vectors]) -> TokenRows:
        return TokenRows(parts, self._row_of.size, self._vectors_of)

    def _vectors_of(self, ids: Ptr) -> Table:
        """The vectors of tokens, in single precision where that holds them exactly."""
        rows = self._table[self._row_of[ids]]
        if self._weight_of is None and np.can_cast(rows.dtype, np.float32, "safe"):
            return rows.astype(np.float32, copy=False)
        wide = rows.astype(np.float64)
        return wide if self._weight_of is None else wide * self._weight_of[ids, None]

    def _encoded(self, texts: Sequence[str], progress: Progress | None) -> Iterator[Tokens]:
        """(where each text begins, token ids), of one batch after another."""
        many = are_many(texts)
        encoder = Encoder(self._tokenizer, self._cuts_at_spaces, self._unknown, many)
        some = batches(texts, _MORE if many else 1)
        encoded = encoder.encode_all(batch for _, batch in some)
        done = 0
        while done < len(texts):
            try:
                tokens = next(encoded)
            except InvalidInput:
                raise
            except Exception as error:  # whatever a broken tokenizer makes of a text
                raise about(
                    self.spec or self.name, f"has a tokenizer that does not work ({error})"
                ) from None
            done += tokens[0].size - 1
            yield tokens
            if progress is not None:
                progress(done, len(texts))

    def _check_ids(self, weights: Path, tokenizer: Path) -> None:
        ids = self._tokenizer.get_vocab().values()
        most = max(ids, default=-1)
        if most < 0:
            raise about(str(tokenizer), "is a tokenizer without any token")
        if most >= self._row_of.size:
            raise about(
                str(weights),
                f"has vectors for {self._row_of.size:,} tokens, and the tokenizer {tokenizer.name}"
                f" beside it gives out ids up to {most:,}: they do not belong together",
            )


def _parts(
    arrays: _files.Arrays, path: Path
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    """The table, which of its rows a token has, and by what that is multiplied."""
    names = [name for name in _TABLE_NAMES if name in arrays] or list(arrays)
    if not names or (names[0] not in _TABLE_NAMES and len(names) > 1):
        held = ", ".join(sorted(arrays)[:5]) or "nothing"
        raise about(str(path), f"has no table of vectors named {_TABLE_NAMES[0]}; it holds {held}")
    table = arrays[names[0]]
    if table.ndim != 2 or table.dtype.kind not in "fi" or 0 in table.shape:
        raise about(
            str(path),
            f"must hold a table of numbers, a row per token; it is {table.dtype} of shape"
            f" {table.shape}",
        )
    _check_finite(table, "its table", path)
    row_of = np.arange(len(table))
    if "mapping" in arrays:
        row_of = arrays["mapping"]
        fine = row_of.ndim == 1 and row_of.dtype.kind in "iu" and row_of.size > 0
        if not fine or int(row_of.min()) < 0 or int(row_of.max()) >= len(table):
            raise about(str(path), "is damaged: its mapping points outside the table")
        row_of = row_of.astype(np.int64)
    weight_of = None
    if "weights" in arrays:
        weight_of = arrays["weights"]
        if weight_of.ndim != 1 or weight_of.dtype.kind != "f" or weight_of.size != row_of.size:
            raise about(str(path), "is damaged: its weights are not one number per token")
        _check_finite(weight_of, "its weights", path)
        weight_of = weight_of.astype(np.float64)
    _check_size(table, row_of, weight_of, path)
    return table, row_of, weight_of


def _check_finite(array: npt.NDArray[Any], what: str, path: Path) -> None:
    if not np.isfinite(array).all():
        raise about(str(path), f"is damaged: {what} holds NaN or infinity")


def _check_size(
    table: npt.NDArray[Any],
    row_of: npt.NDArray[np.int64],
    weight_of: npt.NDArray[np.float64] | None,
    path: Path,
) -> None:
    """Refuse vectors that float32 cannot hold: their means would be infinite."""
    if weight_of is None and np.can_cast(table.dtype, np.float32, "safe"):
        return
    with np.errstate(over="ignore"):  # found below
        top = np.maximum(table.max(axis=1), -table.min(axis=1).astype(np.float64))[row_of]
        top = top if weight_of is None else top * np.abs(weight_of)
    if top.max() > np.finfo(np.float32).max:
        raise about(str(path), "is damaged: its table holds numbers too large for float32")


# ---------------------------------------------------------------- where tables are found
def wordllama() -> TokenTable:
    """The table inside the wheel of wordllama: 32,000 tokens x 256. The package is not imported."""
    found = find_spec("wordllama")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    if not places:
        raise Unsupported(
            f'The embedder wordllama is not installed. Try: pip install "{_PACKAGE}", or say'
            " embedder='none' to cluster by words alone."
        )
    folder = Path(places[0])
    missing = [path for path in (_WEIGHTS, _TOKENIZER) if not (folder / path).is_file()]
    if missing:
        raise Unsupported(
            f"The installed wordllama has no {missing[0].as_posix()} (looked in {folder}). Try: pip"
            f' install --force-reinstall "{_PACKAGE}"'
        )
    try:
        version = metadata.version("wordllama")
    except metadata.PackageNotFoundError:
        version = ""
    stamp = tuple((folder / path).stat().st_mtime_ns for path in (_WEIGHTS, _TOKENIZER))
    return opened(folder, version, stamp)


@lru_cache(maxsize=1)
def opened(folder: Path, version: str, _: tuple[int, ...]) -> TokenTable:
    """The table in this folder; kept until another one is opened."""
    return TokenTable("wordllama", "wordllama", version, folder / _WEIGHTS, folder / _TOKENIZER)


def is_model2vec(folder: Path) -> bool:
    """Whether a folder holds arrays and a tokenizer; `model2vec` sees whether they are a table."""
    return (folder / "model.safetensors").exists() and (folder / "tokenizer.json").exists()


def kind(folder: Path) -> str:
    """What a folder's config.json says that its model is."""
    if not (folder / "config.json").exists():
        return "model2vec"
    return str(_files.read_json(folder / "config.json").get("model_type", "model2vec"))


def model2vec(folder: Path, spec: str) -> TokenTable:
    """The table of a folder that model2vec, or sentence-transformers for a StaticEmbedding, saved."""
    if kind(folder) != "model2vec":
        raise about(
            str(folder),
            f"is a {kind(folder)} model, not a table of vectors; say"
            f" 'sentence-transformers:{folder}'",
        )
    weights, tokenizer = folder / "model.safetensors", folder / "tokenizer.json"
    return TokenTable(spec, folder.resolve().name, "", weights, tokenizer)
