"""How far quick draws on a GPU may be wrong: functions of the kernels, compiled for this machine.

The bounds are derived in docs/inside/cuda.md. Each test fails if its bound is made smaller.
"""

import ctypes
import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from cuda_emulated import is_certain
from scipy.special import gammaln

from coterie.backends.cuda import _device, _fast

OTHERS = 6145  # clusters beside the one that is drawn, at most: WIDEST slots, and a new one
HOST = """
#include <cmath>
#include <cstring>
#include <algorithm>
#define INF INFINITY
using namespace std;
typedef unsigned short u16;
float __fdividef(float x, float y) { return x / y; }
unsigned __float_as_uint(float x) { unsigned u; memcpy(&u, &x, 4); return u; }
float __uint_as_float(unsigned u) { float x; memcpy(&x, &u, 4); return x; }
float flushed(float x) { return x < 0x1.0p-126f ? 0.f : x; }
"""


def constant(name: str) -> float:
    found = re.search(rf"#define {name} (\S+)", _device.source())
    assert found
    return float(found[1].rstrip("f"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Functions of the kernels themselves, compiled for this machine."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    source = _device.source()
    names = (
        "double log_rising", "float quick_rising", "float repeated", "float taken_out", "float own_error",
        "u16 to_short", "float from_short", "bool is_certain", "bool is_sure", "float rate_of",
        "float weight_of",
    )  # fmt: skip
    line = rf"__device__ __\w+__ ((?:{'|'.join(names)})\((?:[^\n]*}}\n|.*?\n}}\n))"
    found = re.findall(line, source, re.S)
    assert len(found) == len(names)
    plain = "\n".join(f'extern "C" {text}' for text in found)
    plain = re.sub(r"asm\(.ex2.*?;\n", "weight = flushed(exp2f(x * rate));\n", plain)
    plain = plain.replace("__expf", "expf").replace("__logf", "logf")
    constants = "".join(re.findall(r"#define (?:FAR|ROUNDED) .*\n", source))
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.cpp").write_text(HOST + constants + plain, encoding="utf-8")
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", "kernels.so", "kernels.cpp"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "kernels.so"))
    single, count = ctypes.c_float, ctypes.c_int
    taken: dict[str, tuple[list[Any], Any]] = {
        "is_certain": ([single] * 6, ctypes.c_bool),
        "is_sure": ([single] * 7, ctypes.c_bool),
        "quick_rising": ([single] * 2, single),
        "taken_out": ([single] * 3, single),
        "own_error": ([single] * 4, single),
        "repeated": ([single, single, count, count], single),
        "to_short": ([count], ctypes.c_uint16),
        "from_short": ([ctypes.c_uint16], single),
        "rate_of": ([single], single),
        "weight_of": ([single] * 2, single),
    }
    for name, (arguments, result) in taken.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


@pytest.mark.parametrize("error", [81.0, 300.0, 1e9])
def test_nothing_is_certain_where_weights_may_be_wrong_by_everything(
    error: float, compiled: Any
) -> None:
    """Weights that far below the largest are 0 in single precision."""
    assert not compiled.is_certain(0.5, 0.0, 1.0, 0.0, error, 0.01)
    assert compiled.is_certain(0.5, 0.0, 1.0, 0.0, 20.0, 0.01)


def test_upper_halves_are_summed_in_16_bits() -> None:
    assert constant("WHOLE_ROWS") == _fast.MANY_ROWS
    assert _fast.MANY_ROWS * 15 < 2**16
    assert (_fast.HALVES + 1) * _fast.FINE <= 256


@pytest.mark.parametrize("bound", [0.0, 20.0, 63.9, 64.1, 79.0, 1000.0])
def test_no_weight_is_lost_that_matters(bound: float, compiled: Any) -> None:
    """However far off the weights are: all others, each `gap` nats below, on one side."""
    assert _fast.WIDEST + 1 == OTHERS
    rate, sure = compiled.rate_of(bound), []
    for gap in np.arange(0.0, bound + 120.0, 0.25):
        lost = OTHERS * compiled.weight_of(-gap, rate)
        sure.append(compiled.is_sure(0.5, lost, 1.0, 0.0, bound, 0.0, bound))
        assert not sure[-1] or OTHERS * np.exp(bound - gap) < 1.0
        if compiled.is_sure(1e-5, lost, 1.0, 0.0, bound, 0.0, bound):
            assert OTHERS * np.exp(bound - gap) < 1e-5
        assert sure[-1] or gap < bound + 23.0
    assert not compiled.is_sure(3e-6, 0.0, 1.0, 0.0, 100.0, 0.0, 100.0)


def test_counts_in_16_bits_are_as_exact_as_their_bound(compiled: Any) -> None:
    random, limit = (
        np.random.default_rng(1),
        int(re.findall(r"EXACT_SHORT (\w+)", _device.source())[0], 16),
    )
    large = np.exp(random.uniform(np.log(4096), np.log(2**31 - 1), 2000)).astype(int)
    for n in [*range(4200), *large.tolist(), 2**31 - 1]:
        code = compiled.to_short(n)
        assert (code > limit) == (n > 4095)
        assert abs(compiled.from_short(code) - n) <= (0 if n <= 4095 else (n + 1) / 4096 * 1.001)


@pytest.mark.parametrize("b", [0.001, 0.1, 20.0])
def test_a_rounded_count_is_off_by_less_than_its_bound(b: float, compiled: Any) -> None:
    """The worst are just above powers of two, with as many of the word in one document as may be."""
    little, worst = constant("LITTLE"), 0.0
    for n in [
        *range(4096, 4300),
        *range(8192, 8400, 3),
        *(2**k + 2 ** (k - 12) for k in range(14, 30)),
    ]:
        near = compiled.from_short(compiled.to_short(n))
        for c in {1, 2, int(near / (little + 1))}:
            i = b + np.arange(c)
            off = abs((np.log1p((near - c) / i) - np.log1p((n - c) / i)).sum())
            worst = max(worst, off / c)
            assert off <= constant("ROUNDED") * c
    assert worst > 0.97 * constant("ROUNDED")


@pytest.mark.parametrize("b", [1e-6, 0.1, 50.0])
@pytest.mark.parametrize("c", [2, 4, 7, 33, 1000])
def test_repetitions_are_as_exact_as_their_bound(b: float, c: int, compiled: Any) -> None:
    b = float(np.float32(b))
    for n in (1.0, 17.0, 4000.0, 1e8):
        exact = np.log1p(n / (b + np.arange(c))).sum()
        assert abs(compiled.repeated(n, b, c, 1) - exact) < compiled.own_error(exact, 0.0, c, 1.0)


def test_sums_of_a_lane_are_as_exact_as_their_bound(compiled: Any) -> None:
    """Each number is such that the sum is rounded down as far as possible."""
    total, exact, n = np.float32(0.0), 0.0, 4000
    for _ in range(n):
        ulp = np.spacing(total + np.float32(12.0))
        x = np.float32(np.floor(12.0 / ulp) * ulp + 0.499 * ulp)
        total, exact = total + x, exact + float(x)
    off = abs(float(total) - exact)
    given = (exact, 0.0, n, 32.0 * n)
    steps = compiled.own_error(*given) - 2e-4 - 1e-5 * n - 5e-7 * exact + 6e-8 * 31 * n * exact
    assert 0.2 * steps < off < steps


@pytest.mark.parametrize("length", [1, 10, 300, 5000])
def test_a_document_is_taken_out_as_exactly_as_its_bound(length: int, compiled: Any) -> None:
    middle = float(np.float32(1.001 * constant("LONGER") * length))
    words = middle - 0.5 * (length - 1)
    exact = (
        np.log(3.1 / 4.1)
        + gammaln(words + 2 * length)
        - 2 * gammaln(words + length)
        + gammaln(words)
    )
    assert abs(compiled.taken_out(3.1, middle, length) - exact) < 1e-6 + 1e-6 * length


@pytest.mark.parametrize("n", [2, 10, 200, 1000])
@pytest.mark.parametrize("times", [4.0, 4.5, 8.0, 1000.0])
def test_the_base_term_is_as_exact_as_its_bound(n: int, times: float, compiled: Any) -> None:
    x = float(np.float32(times * n))
    exact = gammaln(x + n) - gammaln(x)
    assert abs(compiled.quick_rising(x, n) - exact) < 1e-4 + 2e-6 * n


def test_what_is_called_certain_is_certain(compiled: Any) -> None:
    """The worst weights draw the same."""
    function = compiled.is_certain
    random = np.random.default_rng(1)
    n_certain = 0
    for _ in range(20_000):
        before, mine, after = np.exp(random.normal(0.0, 6.0, 3)).astype(np.float32)
        error = float(random.uniform(0.0, 9.0))
        other = float(random.choice([0.02, 1.0])) * error
        u = float(np.float32(random.uniform()))
        certain = function(u, before, mine, after, error, other)
        n_certain += certain
        if certain:
            given = (float(before), float(mine), float(after), error, other)
            assert is_certain(u, *given, margin=2e-6)  # half: it is in single precision
    assert n_certain > 1000
