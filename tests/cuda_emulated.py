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
from coterie.backends import _uncollapsed
from coterie.backends.cuda import _device

TYPES = {
    "i64": np.int64, "u64": np.uint64, "int": np.int32, "float": np.float32, "double": np.float64,
    "u8": np.uint8, "u16": np.uint16,
}  # fmt: skip
SAME_BITS = {np.dtype(np.int64): np.dtype(np.uint64), np.dtype(np.int32): np.dtype(np.uint32)}


@cache
def signatures() -> dict[str, list[tuple[str, str, bool]]]:
    """For each kernel: (name, type, whether it is a pointer) of every argument."""
    found = {}
    for name, inside in re.findall(
        r'extern "C" __global__ void (?:__launch_bounds__\([\d, ]+\) )?(\w+)\(([^)]*)\)',
        _device.source(),
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


def assert_same_sweeps(here: Any, there: Any) -> None:
    """Nine sweeps of the CPU's chain and of the GPU's: the same labels, ids, counts and sums."""
    for sweep in range(1, 10):
        assert here.sweep(7, sweep).moved == there.sweep(7, sweep).moved
        cpu, gpu = here.assignment(), there.assignment()
        assert gpu.labels.tolist() == cpu.labels.tolist()
        assert gpu.id[gpu.open_slots].tolist() == cpu.id[cpu.open_slots].tolist()
        assert gpu.next_id == cpu.next_id
        for mine, other in ((gpu.size, cpu.size), (gpu.total, cpu.total)):
            assert mine[gpu.open_slots].tolist() == other[cpu.open_slots].tolist()
        assert gpu.flag.tolist() == cpu.flag.tolist()
        np.testing.assert_allclose(there.joint_terms(), here.joint_terms(), rtol=1e-9)


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

    def multiply(self, left: Any, right: Any, out: Any) -> None:
        out[:] = left.view(np.float16).astype(np.float32) @ right.view(np.float16).astype(
            np.float32
        )

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
        if old == now or now < 0:
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
        a["n_new"][0] += a["drawn"][place] < 0


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
    taken, extra = tally * g * a["one"], 0
    if isinstance(a.get("given"), np.ndarray):
        taken = taken + a["given"][a["ptr"][d] : a["ptr"][d + 1]]
        extra = int(a["promoted"][d])
    n = a["held"].reshape(-1, width)[word] - np.outer(taken, mine)
    beta = a["beta"][word * a["beta_stride"]][:, None]
    steps = (tally * g)[:, None]
    words = (a["total"] - mine * (length * int(a["one"]) + extra)) * a["unit"]
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


# ---------------------------------------------------------------- words that promote others
def _note_best(**a: Any) -> None:
    n = a["held"].reshape(-1, a["width"])
    beta = (a["beta"] if a["beta_stride"] else np.broadcast_to(a["beta"], len(n)))[:, None]
    chance = np.where(n > 0, a["rate"] * (n * a["unit"] + beta), 0.0)
    a["best"][:] = np.maximum(chance.max(axis=1), a["highest"] * beta[:, 0])


def _relatives(a: dict[str, Any], w: int) -> Any:
    return a["relate_word"][a["relate_ptr"][w] : a["relate_ptr"][w + 1]]


def _spread(a: dict[str, Any], w: int, k: int, amount: int) -> None:
    a["held"].reshape(-1, a["width"])[_relatives(a, w), k] += np.int32(amount)
    a["total"][k] += amount * _relatives(a, w).size


def _copies(a: dict[str, Any], d: int) -> int:
    return int(a["copies_of"][d]) if isinstance(a["copies_of"], np.ndarray) else 1


def _give(a: dict[str, Any], d: int) -> None:
    begin, end = a["ptr"][d], a["ptr"][d + 1]
    amount = a["tally"][begin:end].astype(int) * _copies(a, d) * int(a["promotion"])
    flag = a["flag"][begin:end]
    assert flag.max(initial=0) <= 1
    a["given"][begin:end] = 0
    for i in range(a["pair_ptr"][d], a["pair_ptr"][d + 1]):
        giver, taker = a["giver"][i], a["taker"][i]
        a["given"][begin + taker] += flag[giver] * amount[giver]
    n_relatives = [_relatives(a, w).size for w in a["word"][begin:end]]
    a["promoted"][d] = (flag * amount) @ np.array(n_relatives, int)


def _restore_promoted(**a: Any) -> None:
    for d in range(a["n"]):
        _give(a, d)
        if not isinstance(a["held"], np.ndarray):
            continue
        for e in range(a["ptr"][d], a["ptr"][d + 1]):
            if a["flag"][e]:
                amount = int(a["tally"][e]) * _copies(a, d) * int(a["promotion"])
                _spread(a, a["word"][e], a["z"][d], amount)


def _promote_documents(**a: Any) -> None:
    places = list(range(a["n"]))[::-1]  # the order must not matter
    if a["in_order"]:
        chains = [a["list"][i:j] for i, j in zip(a["starts"][:-1], a["starts"][1:], strict=True)]
        assert len(chains) == a["n"]
        places = np.concatenate(chains[::-1])
    for j in places:
        d = _place(a, int(a["first"]) + int(j))
        old, now, g = int(a["before"][d]), int(a["z"][d]), _copies(a, d)
        alone = a["size"][now] == g and now >= a["n_seeds"]
        is_opened = a["rate"][now] == -1.0
        waits = not a["in_order"] and not alone and is_opened
        words = int(a["length"][d]) * g * int(a["one"]) if alone else int(a["total"][now])
        add = []
        for e in range(a["ptr"][d], a["ptr"][d + 1]):
            w, amount = a["word"][e], int(a["tally"][e]) * g * int(a["promotion"])
            if not _relatives(a, w).size:
                continue
            b = a["beta"][w * a["beta_stride"]]
            if alone or is_opened:
                n = int(a["tally"][e]) * g * int(a["one"])
                n = n if alone else int(a["held"].reshape(-1, a["width"])[w, now])
                rate = (a["size"][now] + a["prior"][now]) / (words * a["unit"] + a["beta_sum"])
            else:
                n, rate = a["start"].reshape(-1, a["width"])[w, now], a["rate"][now]
            where = int(a["key"]), int(a["sweep"]), d, int(a["draw"]) + int(e - a["ptr"][d])
            after = not waits and _rng.uniform(*where)[0] * a["best"][w] < rate * (
                n * a["unit"] + b
            )
            was = bool(a["flag"][e])
            stays = was and after and old == now
            a["flag"][e] = after
            if was and not stays:
                _spread(a, w, old, -amount)
            if after and not stays:
                add.append((w, amount))
        for w, amount in add:
            _spread(a, w, now, amount)
        if alone:
            a["rate"][now] = -1.0
        if waits:
            a["late"][j] = 1
            a["n_late"][0] += 1
        else:
            _give(a, d)


# ---------------------------------------------------------------- theta and phi
def _shapes(a: dict[str, Any]) -> Any:
    """n_kw + b_w, words x columns."""
    shape = np.zeros((a["n_words"], a["width"]))
    held = a["held"].reshape(-1, a["held_width"])[:, : a["width"]]
    shape[:, : held.shape[1]] = held
    beta = a["beta"] if a["beta_stride"] else np.broadcast_to(a["beta"], a["n_words"])
    return shape + beta[:, None]


def _draw_gammas(**a: Any) -> None:
    shape, out = _shapes(a), a["out"].reshape(-1, a["width"])
    for k in range(a["width"]):
        address = int(a["key"]), int(a["sweep"]), k, int(a["draw"])
        out[:, k] = _uncollapsed.log_gammas(np.ascontiguousarray(shape[:, k]), *address)


def _sum_columns(**a: Any) -> None:
    value, part = a["value"].reshape(-1, a["width"]), int(a["part"])
    for i, (top, total) in enumerate(
        zip(a["top"].reshape(-1, a["width"]), a["sum"].reshape(-1, a["width"]), strict=True)
    ):
        some = value[i * part : (i + 1) * part]
        top[:] = some.max(axis=0)
        total[:] = np.exp(some - top).sum(axis=0)


def _fill_phi(**a: Any) -> None:
    a["log_phi"].reshape(-1, a["width"])[:] = a["value"].reshape(-1, a["width"]) - a["norm"]


def _fill_means(**a: Any) -> None:
    a["log_phi"].reshape(-1, a["width"])[:] = np.log(_shapes(a)) - a["norm"]


def _draw_given(**a: Any) -> None:
    log_phi, n, many = a["log_phi"].reshape(-1, a["width"]), int(a["n_columns"]), int(a["many"])
    for d in range(a["n"]):
        word, tally = _document(a, d)
        score = a["copies_of"][d] * (a["log_theta"] + tally @ log_phi[word, :n].astype(float))
        score[-1] += np.log(many)
        weight = np.exp(score - score.max())
        cumulated = np.cumsum(weight)
        x = _rng.uniform(int(a["key"]), int(a["sweep"]), d, int(a["draw"]))[0] * cumulated[-1]
        k = min(int(np.searchsorted(cumulated, x, side="right")), n - 1)
        if k == n - 1:
            within = (x - cumulated[-1] + weight[-1]) / weight[-1]
            k += min(int(within * many), many - 1)
        a["drawn"][d] = k


# ---------------------------------------------------------------- the quick draw
OCCURRENCES = 256
FAR = 64.0


def _max_tally(**a: Any) -> None:
    np.maximum.at(a["most"], a["word"], np.minimum(a["tally"], OCCURRENCES))


def _count_columns(**a: Any) -> None:
    for w, c in zip(a["word"], np.minimum(a["tally"], OCCURRENCES), strict=True):
        first = a["offset"][w]
        if a["burstiness"]:
            a["uses"][first : first + c] += 1
        else:
            a["uses"][first] += c


def _places(a: dict[str, Any], d: int) -> list[int]:
    """The place of every column of a document."""
    word, tally = _document(a, d)
    return [
        int(a["place"][a["offset"][w] + (i if a["burstiness"] else 0)])
        for w, c in zip(word, tally, strict=True)
        for i in range(min(c, OCCURRENCES))
    ]


def _count_rows(**a: Any) -> None:
    for d in range(a["n"]):
        found = np.array(_places(a, d))
        word, tally = _document(a, d)
        columns = [
            int(a["offset"][w] + (min(i, OCCURRENCES - 1) if a["burstiness"] else 0))
            for w, c in zip(word, tally, strict=True)
            for i in range(c)
        ]
        over = [i >= OCCURRENCES for c in tally for i in range(c)]
        rare = sum(
            a["gains"][c] for c, o in zip(columns, over, strict=True) if o or a["place"][c] == -1
        )
        product = [a["place"][c] < -1 and not o for c, o in zip(columns, over, strict=True)]
        rounded = a["half_rounding"] * a["gains"][columns][product].sum()
        a["n_rows"][d] = (found > 0).sum()
        a["error"][d] = 2e-4 + 1e-5 * a["length"][d] + rounded + rare
        a["shift"][d] = (0.5 - 16 * _dither(found[found > 0])).sum()
        a["squares"][d] = (np.unique(found[found > 0], return_counts=True)[1] ** 2.0).sum()


def _list_rows(**a: Any) -> None:
    ones = a["matrix"].view(np.float16).reshape(-1, max(a["n_columns"], 1))
    for d in range(a["n"]):
        found = np.array(_places(a, d))
        a["row_of"][a["row_ptr"][d] : a["row_ptr"][d + 1]] = found[found > 0]
        for c in found[found < -1]:
            ones[d, -2 - c] += 1


def _gains(a: dict[str, Any]) -> Any:
    held = a["held"].reshape(-1, a["width"])[a["word_of"]]
    beta = a["beta"][a["word_of"] * a["beta_stride"]] + a["times_of"]
    return np.log1p(held / beta[:, None])


def _dither(rows: Any) -> Any:
    golden = np.uint64(_rng.GOLDEN)
    return (_rng.mix((rows.astype(np.uint64) + np.uint64(1)) * golden) >> np.uint64(40)) * 2.0**-24


def _fill_halves(**a: Any) -> None:
    out = a["out"].reshape(2, -1, a["row_bytes"])
    dithered = _gains(a) * a["per_step"] + _dither(np.arange(a["n"]))[:, None]
    steps = np.floor(16 * dithered).astype(int)
    assert steps.max() < 256
    steps[0] = 0
    out[:] = 0
    for part, half in zip(out, (steps >> 4, steps & 15), strict=True):
        part[:, : steps.shape[1] // 2] = half[:, ::2] | half[:, 1::2] << 4


def _fill_product(**a: Any) -> None:
    a["out"].view(np.float16)[:] = _gains(a).ravel()


def _measure_rows(**a: Any) -> None:
    n = (a["held"].reshape(-1, a["width"])[a["word_of"]] > 0).sum(axis=1)
    n[0] = 0
    listed, whole = (n + 3) // 4, int(a["whole"])
    a["pieces"][:] = np.where((listed <= whole) | (whole == 0), listed, -whole)


def _fill_lists(**a: Any) -> None:
    gains = np.rint(_gains(a) * a["per_step"]).astype(np.uint32)
    where, store = a["where"].reshape(-1, 2), a["store"].view(np.uint32)
    for row, (at, n) in zip(gains, where, strict=True):
        if n < 0:
            store[at * 4 :].view(np.uint16)[: row.size] = row
        elif n > 0:
            slots = np.flatnonzero(row)
            store[at * 4 : (at + n) * 4] = a["width"]
            store[at * 4 : at * 4 + slots.size] = slots.astype(np.uint32) | (row[slots] << 16)


def _transpose_counts(**a: Any) -> None:
    held = a["held"].reshape(-1, a["width"])[a["word_at"]].T.ravel()
    bits = (held + 1).astype(np.float32).view(np.uint32)
    a["out"][:] = (bits - np.uint32(0x3F800000) + np.uint32(0x800)) >> 12


def _from_short(code: Any) -> Any:
    return ((code.astype(np.uint32) << 12) + np.uint32(0x3F800000)).view(np.float32) - 1


def _draw_narrow(**a: Any) -> None:
    """By the upper halves of bytes, then by the whole bytes those that are left; each bound is checked."""
    tables = [a[name].reshape(-1, a["row_bytes"]) for name in ("rows", "fine")]
    halves = [np.stack([t & 15, t >> 4], axis=2).reshape(len(t), -1) for t in tables]

    def sums(mine: Any, part: int) -> Any:
        return halves[part][mine, : a["width"]].sum(axis=0, dtype=np.int64)

    left, n_left = np.empty_like(a["order"]), np.zeros(1, np.int32)
    upper = a | {"error_of": a["half_error_of"], "list": left, "n_listed": n_left}
    middle = 7.5 * np.diff(a["row_ptr"])
    _draw_quickly(upper, lambda mine, d: 16 * sums(mine, 0) + a["shift_of"][d] + middle[d])
    _draw_quickly(
        a | {"order": left[: n_left[0]], "part": True},
        lambda mine, d: 16 * sums(mine, 0) + sums(mine, 1) + a["shift_of"][d],
    )


def _draw_wide(**a: Any) -> None:
    where, store = a["where"].reshape(-1, 2), a["store"].view(np.uint32)

    def steps(mine: Any, d: int) -> Any:
        sums = np.zeros(a["width"] + 4, np.int64)
        for at, n in where[mine]:
            if n < 0:
                sums[: a["width"]] += store[at * 4 :].view(np.uint16)[: a["width"]]
            elif n > 0:
                pairs = store[at * 4 : (at + n) * 4]
                np.add.at(sums, pairs & 0xFFFF, pairs >> 16)
        return sums[: a["width"]]

    _draw_quickly(a, steps)


def _draw_wide_1024(**a: Any) -> None:
    _draw_wide(**a)


def _draw_quickly(a: dict[str, Any], steps: Any) -> None:
    """As the kernels do it; that no true weight is further off than the bound is checked on the way."""
    held = _from_short(a["by_slot"]).reshape(-1, a["n_words"]).T.astype(np.int32)  # exact to 4095
    word, tally = a["pairs"].reshape(-1, 2).T
    given = a | {"one": 1, "unit": 1.0, "kappa": 0.0, "held": held, "word": word, "tally": tally}
    base = a["base"].reshape(-1, a["width"])
    assert a.get("part") or sorted(a["order"]) == list(range(a["n"]))
    for d in a["order"]:
        own = int(a["z"][d])
        exact = _weights(given, d, own, 1, 0, at_mean=False)
        if a["base_row"][d] < 0 or a["error_of"][d] > 1e8:
            _give_up(a, d)
            continue
        mine = a["row_of"][a["row_ptr"][d] : a["row_ptr"][d + 1]]
        score = base[a["base_row"][d]] + steps(mine, d) * float(a["step"])
        if a["n_product"]:
            score = score + a["product"].reshape(-1, a["n_product"])[d]
        score[own] = exact[own]
        is_open = np.isfinite(exact)
        assert (np.isfinite(score) == is_open).all()
        assert (abs(score[is_open] - exact[is_open]) <= a["error_of"][d]).all()
        alone = a["size"][own] == 1 and own >= a["n_seeds"]
        with np.errstate(divide="ignore"):
            fresh = np.log(a["open_weight"] + a["size_prior"] * (a["cap"] - a["n_open"][0] + alone))
        weight = np.exp(np.append(score, fresh) - max(score.max(), fresh))
        cumulated = np.cumsum(weight)
        u = _rng.uniform(int(a["key"]), int(a["sweep"]), d, int(a["draw"]))[0]
        k = int(np.searchsorted(cumulated, u * cumulated[-1], side="right"))
        error = float(a["error_of"][d])
        own_error = 2e-4 + 1e-5 * a["length"][d]  # no count here is so large that it is rounded
        other = own_error if k == own else error
        if k < score.size and _is_sure(u, np.append(score, fresh), k, max(error, own_error), other):
            a["drawn"][d] = k
        else:
            _give_up(a, d)


def _is_sure(u: float, score: Any, k: int, error: float, other: float) -> bool:
    if error + other >= FAR:
        return bool(
            np.delete(score, k).max() < score[k] - error - other - 22 and 4e-6 < u < 1 - 4e-6
        )
    weight = np.exp(score - score.max())
    return is_certain(u, weight[:k].sum(), weight[k], weight[k + 1 :].sum(), error, other)


def is_certain(
    u: float,
    before: float,
    mine: float,
    after: float,
    error: float,
    other: float,
    margin: float = 4e-6,
) -> bool:
    """Whether u falls on the middle one of three weights, however far off the weights are."""
    for side in (-1, 1):  # one side is larger, all else smaller
        left, right = before * np.exp(-side * error), after * np.exp(side * error)
        own = mine * np.exp(-other)
        low, high = left / (left + own + right), (left + own) / (left + own + right)
        if not low + margin < u < high - margin:
            return False
    return True


def _give_up(a: dict[str, Any], d: int) -> None:
    a["list"][a["n_listed"][0]] = d
    a["n_listed"][0] += 1
