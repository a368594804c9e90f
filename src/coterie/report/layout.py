"""Positions of the clusters on the map: word distributions in, points in the unit square out.

Clusters that use similar words are close to each other, bubbles do not overlap, and the same input
gives the same map: nothing here is random.

Classical scaling alone would put hundreds of clusters of short texts into one heap, because nearly
all distances are close to 1; here it only provides the start. Then t-SNE (van der Maaten & Hinton
2008) moves nearest neighbours together, which is what readers look for. Finally, overlapping bubbles
are pushed apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.intp]

ASPECT = 0.625  # height of the picture divided by its width
MOST = 1000  # clusters placed by the full method; its cost is quadratic
_FILL = 0.36  # share of the picture that bubbles cover
_LARGEST, _SMALLEST = 0.115, 0.0035  # radii, in picture widths
_GAP = 0.002  # between two bubbles


def positions(distances: npt.ArrayLike, sizes: npt.ArrayLike) -> Floats:
    """Positions (clusters, 2) in 0..1, from a matrix of distances and the sizes of the clusters.

    x goes from left to right over the width of the picture, y from top to bottom over its height. With
    more than `MOST` clusters, the largest are placed, and each other one gets the position of its
    nearest.
    """
    far = np.asarray(distances, np.float64)
    size = np.asarray(sizes, np.float64)
    if size.size > MOST:
        return _with_the_small(far, size)
    if size.size < 2:
        return np.full((size.size, 2), 0.5)
    radius = radii(size)
    start = _classical(far)
    place = _neighbours(far, start) if size.size > 3 else start
    place = _framed(_turned(place, size), radius)
    return _apart(place, radius) / [1.0, ASPECT]


def hellinger(weights: Any) -> Floats:
    """Hellinger distances (clusters, clusters) between the rows of a matrix of word counts.

    An array or a scipy sparse matrix (clusters, words) of counts or probabilities; 0 for equal
    distributions, 1 for two that share no word.
    Equivalent to: sqrt(1 - sqrt(p) @ sqrt(p).T), p = weights / weights.sum(1).
    """
    total = np.asarray(weights.sum(axis=1), np.float64).ravel()
    root = np.sqrt(weights)
    overlap = root @ root.T
    overlap = np.asarray(overlap.toarray() if hasattr(overlap, "toarray") else overlap, np.float64)
    scale = np.sqrt(np.maximum(total, 1e-300))
    overlap = overlap / scale[:, None] / scale[None, :]
    far: Floats = np.sqrt(np.clip(1.0 - overlap, 0.0, 1.0))
    np.fill_diagonal(far, 0.0)
    return far


def radii(sizes: npt.ArrayLike) -> Floats:
    """Radius of each bubble in picture widths: its area grows with its size.

    >>> radii([400, 100]).round(3).tolist()
    [0.115, 0.058]
    """
    size = np.maximum(np.nan_to_num(np.asarray(sizes, np.float64)), 0.0)
    if not size.size:
        return size
    root = np.sqrt(size / max(float(size.sum()), 1.0) * (_FILL * ASPECT / np.pi))
    root *= min(1.0, _LARGEST / max(float(root.max()), 1e-9))
    # Many tiny bubbles of the minimum size could fill the picture; then the minimum shrinks.
    least = min(_SMALLEST, float(np.sqrt(_FILL * ASPECT / np.pi / size.size)))
    return np.maximum(root, least)


def _with_the_small(far: Floats, size: Floats) -> Floats:
    order = np.argsort(-size, kind="stable")
    large, small = order[:MOST], order[MOST:]
    place = np.empty((size.size, 2))
    place[large] = positions(far[np.ix_(large, large)], size[large])
    place[small] = place[large[far[np.ix_(small, large)].argmin(1)]]
    return place


def _classical(far: Floats) -> Floats:
    """Classical scaling: the first two principal coordinates.

    By subspace iteration from a fixed start: a full eigh costs a second at 1,000 clusters, and
    a start for what follows need not be exact.
    """
    n = far.shape[0]
    square = far**2
    mean = square.mean(0)
    gram = -0.5 * (square - mean[:, None] - mean[None, :] + mean.mean())
    width = min(n, 8)
    basis = np.cos(np.outer(np.arange(1, n + 1), np.arange(1, width + 1) * 2.39996))
    for _ in range(20):
        basis, _ = np.linalg.qr(gram @ basis)
    values, turn = np.linalg.eigh(basis.T @ gram @ basis)
    vectors = basis @ turn
    place = np.zeros((n, 2))
    for axis, j in enumerate((-1, -2)):
        vector = vectors[:, j] * np.sqrt(max(values[j], 0.0))
        place[:, axis] = vector * np.sign(vector[np.abs(vector).argmax()] or 1.0)
    return place


def _neighbours(far: Floats, start: Floats) -> Floats:
    """A short t-SNE run from `start`; single precision is enough for a picture."""
    n = far.shape[0]
    one, two, near = _affinities(far, max(2, min(12, n // 3)))
    place = (start / max(float(np.abs(start).max()), 1e-12) * 1e-2).astype(np.float32)
    place += (1e-4 * _spiral(n)).astype(
        np.float32
    )  # otherwise equal positions would never separate
    speed, gain = np.zeros_like(place), np.ones_like(place)
    kernel = np.empty((n, n), np.float32)
    left, right = np.ones((n, 4), np.float32), np.ones((4, n), np.float32)
    rate = np.float32(max(n / 6.0, 8.0))
    for step in range(160):
        early = step < 50
        left[:, :2], left[:, 2] = -2.0 * place, 1.0 + (place**2).sum(1)
        right[:2], right[3] = place.T, (place**2).sum(1)
        np.matmul(left, right, out=kernel)  # 1 + squared distances
        np.reciprocal(np.maximum(kernel, 1.0, out=kernel), out=kernel)
        np.fill_diagonal(kernel, 0.0)
        pull = near * kernel[one, two] * np.float32(6.0 if early else 1.0)
        total = kernel.sum()
        np.multiply(kernel, kernel, out=kernel)
        slope = (kernel @ place - kernel.sum(1)[:, None] * place) / total
        for axis in (0, 1):
            force = pull * (place[one, axis] - place[two, axis])
            slope[:, axis] += np.bincount(one, force, n) - np.bincount(two, force, n)
        gain = np.maximum(np.where(slope * speed < 0.0, gain + 0.2, gain * 0.8), 0.01)
        speed = np.float32(0.5 if early else 0.8) * speed - 4.0 * rate * gain * slope
        place = place + speed
        place -= place.mean(0)
    return place.astype(np.float64)


def _affinities(far: Floats, neighbours: int) -> tuple[Ints, Ints, Singles]:
    """Pairs of close clusters with their weights; the width of each row is found by bisection."""
    n = far.shape[0]
    count = min(n - 1, 3 * neighbours)
    alone = far.copy()
    np.fill_diagonal(alone, np.inf)
    other = np.argsort(alone, axis=1, kind="stable")[:, :count]
    square = np.take_along_axis(alone, other, 1) ** 2
    square -= square[:, :1]
    low, high = np.full(n, -3.0), np.full(n, 14.0)  # log of the precision
    for _ in range(20):
        middle = (low + high) / 2.0
        sharp = np.exp(middle)
        weight = np.exp(-square * sharp[:, None])
        total = weight.sum(1)
        entropy = np.log(total) + sharp * (square * weight).sum(1) / total
        wide = entropy > np.log(neighbours)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    # Each pair occurs in both directions, so its halves add up to the symmetric weight.
    weight /= total[:, None] * (2.0 * n)
    return np.repeat(np.arange(n), count), other.ravel(), weight.ravel().astype(np.float32)


def _turned(place: Floats, size: Floats) -> Floats:
    """Rotate the long side to the width, and put the largest cluster at the upper left."""
    place = place - place.mean(0)
    _, axes = np.linalg.eigh(place.T @ place)
    place = place @ axes[:, ::-1]
    largest = place[size.argmax()]
    return place * np.where(largest > 0.0, -1.0, 1.0)


def _framed(place: Floats, radius: Floats) -> Floats:
    """Stretch over the picture (1 x ASPECT), with each bubble inside."""
    low, high = np.quantile(place, [0.01, 0.99], axis=0)
    unit = np.clip((place - low) / np.maximum(high - low, 1e-12), 0.0, 1.0)
    unit[:, high - low < 1e-9] = 0.5
    rim = radius[:, None] + 2 * _GAP
    framed: Floats = rim + unit * ([1.0, ASPECT] - 2.0 * rim)
    return framed


def _apart(place: Floats, radius: Floats) -> Floats:
    """Push overlapping bubbles apart, within the frame; the smaller one moves more."""
    n = radius.size
    rim = radius[:, None] + _GAP
    place = place + 1e-5 * _spiral(n)
    for _ in range(25):
        one, two = _close(place, radius)
        touch = radius[one] + radius[two] + _GAP
        yields = radius[two] ** 2 / (radius[one] ** 2 + radius[two] ** 2)
        for _ in range(8):
            apart = place[one] - place[two]
            gap = np.sqrt((apart**2).sum(1))
            over = np.maximum(touch - gap, 0.0)
            if not over.size or float(over.max()) < 0.25 * _GAP:
                break
            push = 0.7 * apart * (over / np.maximum(gap, 1e-9))[:, None]
            for axis in (0, 1):
                place[:, axis] += np.bincount(one, push[:, axis] * yields, n)
                place[:, axis] -= np.bincount(two, push[:, axis] * (1.0 - yields), n)
            place = np.clip(place, rim, [1.0, ASPECT] - rim)
        else:
            continue
        if _close(place, radius, 0.0)[0].size == 0:
            break
    return place


def _close(place: Floats, radius: Floats, reach: float = 0.02) -> tuple[Ints, Ints]:
    """Pairs of bubbles that overlap or are closer than `reach`."""
    x, y, r = place[:, 0], place[:, 1], radius
    square = np.subtract.outer(x, x) ** 2 + np.subtract.outer(y, y) ** 2
    one, two = np.nonzero(np.triu(square < (np.add.outer(r, r) + reach) ** 2, 1))
    return one, two


def _spiral(n: int) -> Floats:
    """Distinct directions, from the golden angle."""
    angle = np.arange(n) * 2.39996
    return np.stack([np.cos(angle), np.sin(angle)], 1)
