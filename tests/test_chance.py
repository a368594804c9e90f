"""The bounds themselves: right draws stay within them, wrong ones do not, and seeds can be moved."""

import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from chance import LUCK, fit, moved, surprise, tail, uniform
from scipy import stats

pytestmark = pytest.mark.chance
P = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("p", [[0.5, 0.5], [0.9, 0.1], [0.6, 0.3, 0.1]], ids=str)
def test_the_bound_is_never_below_the_truth(p, n):
    """Every outcome of a small multinomial, enumerated."""
    found = []
    for counts in compositions(n, len(p)):
        probability = stats.multinomial(n, p).pmf(counts)
        found.append((surprise(counts, p), probability))
    for bound, _ in found:
        as_far = sum(q for other, q in found if other <= bound)
        assert as_far <= bound * (1 + 1e-9)


def compositions(n, k):
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, k - 1):
            yield (first, *rest)


def test_right_draws_fit_and_wrong_ones_do_not():
    random = np.random.default_rng(moved(1))
    drawn = Counter(random.choice(4, 5000, p=P).tolist())
    assert fit(drawn, dict(enumerate(P))) > LUCK
    assert fit(drawn, dict(enumerate(P[::-1]))) < LUCK**2
    assert fit(drawn, {0: 0.5, 1: 0.5}) == 0.0  # 2 and 3 were drawn, and are impossible


def test_rare_outcomes_count_together():
    exact = {0: 0.999} | dict.fromkeys(range(1, 101), 1e-05)
    assert fit(Counter({0: 999, 7: 1}), exact) == 1.0
    assert fit(Counter({0: 900, 7: 100}), exact) < LUCK


def test_uniform_numbers_are_told_from_others():
    u = np.random.default_rng(moved(2)).random(20_000)
    assert uniform(u) > LUCK
    assert uniform(u**1.2) < LUCK
    assert uniform(1.0 - u) > LUCK
    assert uniform(np.full(20_000, 0.5)) < LUCK


def test_the_tail_is_one_up_to_its_middle():
    assert tail(3.0, 3) == 1.0
    assert tail(5.0, 0) == 1.0
    assert math.isclose(tail(20.0, 1), 20.0 * math.exp(1.0 - 20.0))


def test_another_offset_gives_other_seeds():
    code = "import chance; print([chance.moved(n) for n in (0, 1, 20140824)])"
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "COTERIE_TEST_SEED": offset},
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for offset in ("", "0", "1", "2")
    ]
    assert said[0] == said[1] == "[0, 1, 20140824]"
    assert len(set(said)) == 3
