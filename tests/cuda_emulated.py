"""A stand-in for a GPU: arrays are NumPy's, and every kernel is a few lines of Python.

So the host's part of the CUDA backend runs without a GPU. `launch` checks every argument against the
signature in the `.cu` files, so what is passed here is what a GPU would take.
"""

import re
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaln

from coterie import _rng
from coterie.backends.cuda import _device

TYPES = {
    "i64": np.int64, "u64": np.uint64, "int": np.int32, "float": np.float32, "double": np.float64,
    "short": np.uint16, "unsigned": np.uint32, "u16": np.uint16,
}  # fmt: skip
SAME_BITS = {np.dtype(np.int64): np.dtype(np.uint64), np.dtype(np.int32): np.dtype(np.uint32)}


@cache
def signatures() -> dict[str, list[tuple[str, str, bool]]]:
    """For each kernel: (name, type, whether it is a pointer) of every argument."""
    found = {}
    for name, inside in re.findall(
        r'extern "C" __global__ void (\w+)\(([^)]*)\)', _device.source()
    ):
        each = [re.sub(r"\b(const|__restrict__)\b", "", part).split() for part in inside.split(",")]
        parts = [" ".join(words).replace("*", " * ").split() for words in each]
        found[name] = [(words[-1], words[0], "*" in words) for words in parts]
    return found


def bind(name: str, args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments by name; an AssertionError where the kernel would read something else."""
    wanted = signatures()[name]
    assert len(args) == len(wanted), f"{name} takes {len(wanted)} arguments, not {len(args)}"
    for given, (what, kind, is_pointer) in zip(args, wanted, strict=True):
        dtype = np.dtype(TYPES[kind])
        if not is_pointer:
            assert isinstance(given, np.generic), f"{what} of {name} must be a NumPy scalar"
            assert given.dtype == dtype, f"{what} of {name} is {given.dtype}, not {dtype}"
        elif not isinstance(given, np.generic):  # a null pointer is a number
            assert given.flags.c_contiguous
            unsigned = SAME_BITS.get(given.dtype, given.dtype)
            assert unsigned == SAME_BITS.get(dtype, dtype) or what in UNUSED, f"{what} of {name}"
    return {what: given for given, (what, _, _) in zip(args, wanted, strict=True)}


UNUSED = ("dots", "norm", "scan", "list", "n_listed", "scratch")  # may be any array when not read


class Emulated:
    """See `coterie.backends.cuda._device.Device`."""

    xp = np
    n_processors = 2
    max_shared = 227 * 2**10

    def __init__(self, free: int = 2**40) -> None:
        self.free = free

    def launch(
        self, name: str, grid: Any, block: int, args: tuple[Any, ...], shared: int = 0
    ) -> None:
        given = bind(name, args)
        flat = {k: v.reshape(-1) if isinstance(v, np.ndarray) else v for k, v in given.items()}
        globals()[f"_{name}"](**flat)

    def to_host(self, array: Any) -> Any:
        return array.copy()

    def free_bytes(self) -> int:
        return self.free

    def give_back(self) -> None:
        pass


def _document(a: dict[str, Any], d: int) -> tuple[Any, Any]:
    entries = slice(a["ptr"][d], a["ptr"][d + 1])
    return a["word"][entries], a["tally"][entries].astype(np.int64)


def _place(a: dict[str, Any], place: int) -> int:
    return int(a["scan"][place]) if a["scanned"] else place


def _move_documents(**a: Any) -> None:
    held = a["held"].reshape(-1, a["width"])
    for place in range(a["first"], a["first"] + a["n"]):
        d = _place(a, place)
        old, now, g = int(a["z"][d]), int(a["drawn"][place]), int(a["copies_of"][d])
        if old == now:
            continue
        word, tally = _document(a, d)
        for k, sign in ((old, -1), (now, 1)):
            if k < 0:
                continue
            held[word, k] += (sign * tally * g * a["one"]).astype(np.int32)
            a["size"][k] += sign * g
            a["total"][k] += sign * int(a["length"][d]) * g * int(a["one"])
            if a["n_dimensions"]:
                sums = a["sums"].reshape(-1, a["n_dimensions"])
                sums[k] += sign * g * a["vectors"].reshape(-1, a["n_dimensions"])[d].astype(float)
        a["z"][d] = now
        a["moved"][0] += np.uint64(g)


def _count_open(**a: Any) -> None:
    a["counters"][0] = ((a["size"] > 0) | (np.arange(a["width"]) < a["n_seeds"])).sum()


def _rising(x: Any, n: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where(np.equal(n, 0), 0.0, gammaln(np.add(x, n)) - gammaln(x))


def _fill_base(**a: Any) -> None:
    is_open = (a["size"] > 0) | (np.arange(a["width"]) < a["n_seeds"])
    with np.errstate(divide="ignore"):
        size = np.where(is_open, np.log(a["size"] + a["prior"]), -np.inf)
    words = a["total"] * a["unit"] + a["beta_sum"]
    base = a["base"].reshape(-1, a["width"])
    for row, length in enumerate(a["lengths"]):
        base[row] = size - _rising(words, length) + _rising(a["beta_sum"], length)


def _rename_slots(**a: Any) -> None:
    before = a["from"].reshape(-1, a["from_width"])
    after = a["to"].reshape(-1, a["to_width"])
    after[:] = np.where(a["old"] >= 0, before[:, a["old"]], 0)


def _word_terms(**a: Any) -> None:
    n = a["held"].reshape(-1, a["width"]) * a["unit"]
    beta = (a["beta"] if a["beta_stride"] else np.broadcast_to(a["beta"], len(n)))[:, None]
    a["out"][0] = np.where(n > 0, gammaln(n + beta) - gammaln(beta), 0.0).sum()
    a["out"][1] = (n * np.log(n + beta)).sum()


def _words_given_labels(**a: Any) -> None:
    held = a["held"].reshape(-1, a["width"])
    for d in range(a["n"]):
        word, tally = _document(a, d)
        k, beta = a["z"][d], a["beta"][word * a["beta_stride"]]
        nats = tally @ np.log(held[word, k] * a["unit"] + beta)
        nats -= a["length"][d] * np.log(a["total"][k] * a["unit"] + a["beta_sum"])
        a["out"][0] += a["copies"][d] * nats


def _draw_exact(**a: Any) -> None:
    n = a["n_listed"][0] if a["listed"] else a["n_given"]
    for j in range(n):
        place = int(a["list"][j]) if a["listed"] else int(a["first"]) + j
        d = _place(a, place)
        own, g = int(a["z"][d]), int(a["copies_of"][d])
        score = _weights(a, d, own, g, j, at_mean=False)
        alone = a["size"][own] == g and own >= a["n_seeds"]
        n_empty = a["cap"] - (a["n_open"][0] - alone)
        with np.errstate(divide="ignore"):
            fresh = np.logaddexp(
                np.log(a["open_weight"]) + gammaln(g), np.log(n_empty) + _rising(a["size_prior"], g)
            )
        score = np.append(score, fresh)
        if score.max() == -np.inf:
            a["drawn"][place] = own
            continue
        cumulated = np.cumsum(np.exp(score - score.max()))
        x = _rng.uniform(int(a["key"]), int(a["sweep"]), d, int(a["draw"]))[0] * cumulated[-1]
        k = int(min(np.searchsorted(cumulated, x, side="right"), score.size - 1))
        a["drawn"][place] = k if k < score.size - 1 else own if alone else -1


def _score_documents(**a: Any) -> None:
    out = a["out"].reshape(-1, a["n_clusters"])
    for j in range(a["n"]):
        d = int(a["first"]) + j
        score = _weights(a | {"n_seeds": a["width"]}, d, int(a["own_of"][d]), 1, j, a["at_mean"])
        out[j] = score[: a["n_clusters"]]


def _weights(a: dict[str, Any], d: int, own: int, g: int, j: int, at_mean: Any) -> Any:
    """Log weights of all slots, relative to an empty cluster, d itself left out."""
    width = int(a["width"])
    word, tally = _document(a, d)
    length = int(a["length"][d]) * g
    mine = np.arange(width) == own
    n = a["held"].reshape(-1, width)[word] - np.outer(tally * g * a["one"], mine)
    beta = a["beta"][word * a["beta_stride"]][:, None]
    steps = (tally * g)[:, None]
    words = (a["total"] - mine * length * int(a["one"])) * a["unit"]
    if a["burstiness"] and not at_mean:
        score = (_rising(n * a["unit"] + beta, steps) - _rising(beta, steps)).sum(axis=0)
    else:
        score = (steps * np.log1p(n * a["unit"] / beta)).sum(axis=0)
    if at_mean:
        score -= length * np.log1p(words / a["beta_sum"])
    else:
        score -= _rising(words + a["beta_sum"], length) - _rising(a["beta_sum"], length)
    size = a["size"] - mine * g
    score += np.where(
        (size > 0) | (np.arange(width) < a["n_seeds"]), _rising(size + a["prior"], g), -np.inf
    )
    if a["kappa"] > 0 and not at_mean:
        own_norm, rho2 = g * g * a["own_norm"][d], a["rho"] ** 2
        dot = a["dots"].reshape(-1, width)[j].astype(float)
        grown = 2 * g * dot + np.where(mine, -own_norm, own_norm)
        before = np.maximum(a["norm"] - mine * grown, 0.0)
        gain = grown / (np.sqrt(np.maximum(rho2 + before + grown, 0)) + np.sqrt(rho2 + before))
        score += a["kappa"] * (gain - own_norm / (np.sqrt(rho2 + own_norm) + a["rho"]))
    return score
