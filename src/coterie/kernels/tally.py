"""Token ids to counts, and identical documents to one: the compiled part of `counts.py`."""

from __future__ import annotations

import numpy as np

from coterie.kernels._common import fold, kernel


@kernel
def tally(ptr, ids, word, amount, new_ptr, seen, where):
    """Merge repeated words of each document, in order of first use; return the number of entries.

    Equivalent to: `Counter(ids[ptr[d]:ptr[d+1]])` for each d, written to word and amount.
    `word` may be `ids` itself. A negative id is skipped. `seen` (all -1) and `where` are scratch,
    one entry a word.
    """
    end = np.int64(0)
    for d in range(ptr.size - 1):
        new_ptr[d] = end
        for i in range(ptr[d], ptr[d + 1]):
            w = ids[i]
            if w < 0:
                continue
            if seen[w] == d:
                amount[where[w]] += 1
            else:
                seen[w] = d
                where[w] = end
                word[end] = w
                amount[end] = 1
                end += 1
    new_ptr[ptr.size - 1] = end
    return end


@kernel
def has_repeats(ptr, word, seen):
    """Whether a document names a word twice. `seen` (all -1) is scratch, one entry per word.

    A document whose words ascend, as in nearly all matrices, is not looked at twice.
    """
    for d in range(ptr.size - 1):
        ascends = True
        for e in range(ptr[d] + 1, ptr[d + 1]):
            ascends &= word[e] > word[e - 1]
        if not ascends:
            for e in range(ptr[d], ptr[d + 1]):
                if seen[word[e]] == d:
                    return True
                seen[word[e]] = d
    return False


@kernel
def document_frequency(ptr, ids, seen, frequency):
    """Equivalent to: frequency[w] = number of documents that hold w. Negative ids are skipped.

    `seen` (all -1) is scratch, one entry a word.
    """
    for d in range(ptr.size - 1):
        for i in range(ptr[d], ptr[d + 1]):
            w = ids[i]
            if w >= 0 and seen[w] != d:
                seen[w] = d
                frequency[w] += 1


@kernel
def holders(ptr, word, place, end, held):
    """Write the documents of words, ascending: those of word w from end[place[w]] on, which moves along.

    Words of place -1 are skipped. No word is named twice in a document. Nothing is written to an empty
    `held`, so that `end` only counts.
    """
    for d in range(ptr.size - 1):
        for e in range(ptr[d], ptr[d + 1]):
            k = place[word[e]]
            if k >= 0:
                if held.size:
                    held[end[k]] = d
                end[k] += 1


@kernel
def fingerprints(ptr, word, amount, high, low):
    """Two 64-bit sums a document that do not depend on the order of its words."""
    for d in range(ptr.size - 1):
        a = np.uint64(0)
        b = np.uint64(0)
        for e in range(ptr[d], ptr[d + 1]):
            h = fold(fold(np.uint64(11), np.int64(word[e])), np.int64(amount[e]))
            a += h
            b += fold(h, np.int64(29))
        high[d] = a
        low[d] = b


@kernel
def vector_prints(rows, bits, odd, high, low):
    """Add to the numbers of some rows two that follow from all bits of their vectors.

    `odd` are two of factors.
    """
    for d in rows:
        a = np.uint64(0)
        b = np.uint64(0)
        for j in range(bits.shape[1]):
            bit = np.uint64(bits[d, j])
            a += (bit ^ (a >> np.uint64(29))) * odd[0, j]
            b += (bit ^ (b >> np.uint64(29))) * odd[1, j]
        high[d] += a
        low[d] += b


@kernel
def group(rows, high, low, slot, first, group):
    """Number the distinct pairs (high, low) of some rows, in order; return how many there are.

    first[g] becomes the first position in `rows` that has pair g, and group[i] the pair of rows[i].
    `slot` (all -1) is scratch: a power of two, at least twice as many as rows.
    """
    n = 0
    mask = np.uint64(slot.size - 1)
    for i in range(rows.size):
        a, b = high[rows[i]], low[rows[i]]
        at = fold(a, np.int64(0)) & mask
        while slot[at] >= 0:
            known = rows[first[slot[at]]]
            if high[known] == a and low[known] == b:
                break
            at = (at + np.uint64(1)) & mask
        if slot[at] < 0:
            slot[at] = n
            first[n] = i
            n += 1
        group[i] = slot[at]
    return n


@kernel
def move_forward(rows, ptr, word, amount):
    """Keep only these rows (ascending) of a CSR matrix, in its own arrays; return how many entries stay."""
    end = np.int64(0)
    for i in range(rows.size):
        first, last = ptr[rows[i]], ptr[rows[i] + 1]
        ptr[i] = end
        for e in range(first, last):
            word[end] = word[e]
            amount[end] = amount[e]
            end += 1
    ptr[rows.size] = end
    return end


@kernel
def totals(ptr, word, amount, weight, out):
    """Equivalent to: out[w] += amount * weight for all entries of w; floating point, so none overflows."""
    for d in range(ptr.size - 1):
        for e in range(ptr[d], ptr[d + 1]):
            out[word[e]] += np.float64(amount[e]) * weight[d]
