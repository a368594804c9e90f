"""Strings of bytes to numbers: every distinct string gets one, in the order in which they first come up.

A scan stops where a table or the output is full and says where, so that nothing is allocated here; its
caller makes room and goes on. Two numbers say what a string is compared with: its hash finds a place in
the table, and its bytes decide. So numbers never depend on the hash.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels._common import inlined, kernel, mix

BEGINS, GOES_ON = 1, 2  # bits in `kind`: may begin a word, may be within one
TEXT_END = 0  # the number that stands for the end of a text
SEPARATOR, WHOLE = 0xFF, 0xFE  # bytes that UTF-8 does not have

_PRIME = np.uint64(0x100000001B3)  # of the hash FNV-1a
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_NONE = np.uint64(0)
_ONE = np.uint64(1)
_SPACE = np.uint8(0x20)
_SEPARATOR, _WHOLE = np.uint8(SEPARATOR), np.uint8(WHOLE)
_BEGINS, _GOES_ON = np.uint8(BEGINS), np.uint8(GOES_ON)


class Strings(NamedTuple):
    """Distinct strings. Fuller than half, or without room for the next one, they need larger arrays."""

    seed: np.uint64  # of the hash: nobody can prepare texts whose strings all meet in one place
    slot: npt.NDArray[np.uint64]  # (power of two,) half a hash, and the number + 1; 0: empty
    start: npt.NDArray[np.int64]  # (most strings + 1,) where the bytes of each begin
    held: npt.NDArray[np.uint8]  # the bytes of all strings
    used: npt.NDArray[np.int64]  # (1,) number of strings


@inlined
def has_room(strings, size):
    """Whether another string of so many bytes fits."""
    n = strings.used[0]
    return (
        2 * (n + 1) <= strings.slot.size
        and n + 1 < strings.start.size
        and strings.start[n] + size <= strings.held.size
    )


@inlined
def number_of(strings, text, begin, end, state):
    """The number of text[begin:end], whose bytes are hashed in `state`; there must be room for it."""
    hashed = mix(state)
    half = hashed >> _HALF
    mask = np.uint64(strings.slot.size - 1)
    at = hashed & mask
    while strings.slot[at] != _NONE:
        entry = strings.slot[at]
        if entry >> _HALF == half:
            i = np.int64(entry & _LOW) - 1
            first = strings.start[i]
            if strings.start[i + 1] - first == end - begin:
                k = 0
                while k < end - begin and strings.held[first + k] == text[begin + k]:
                    k += 1
                if k == end - begin:
                    return i
        at = (at + _ONE) & mask
    n = strings.used[0]
    first = strings.start[n]
    for k in range(end - begin):
        strings.held[first + k] = text[begin + k]
    strings.start[n + 1] = first + end - begin
    strings.slot[at] = (half << _HALF) | np.uint64(n + 1)
    strings.used[0] = n + 1
    return n


@kernel
def refill(strings):
    """Enter all strings into `slot`, which is empty."""
    mask = np.uint64(strings.slot.size - 1)
    for i in range(strings.used[0]):
        state = strings.seed
        for k in range(strings.start[i], strings.start[i + 1]):
            state = (state ^ np.uint64(strings.held[k])) * _PRIME
        hashed = mix(state)
        at = hashed & mask
        while strings.slot[at] != _NONE:
            at = (at + _ONE) & mask
        strings.slot[at] = ((hashed >> _HALF) << _HALF) | np.uint64(i + 1)


@inlined
def _character(text, at):
    """(The code of the character at this byte, where the next one begins), in UTF-8."""
    byte = np.int64(text[at])
    if byte < 0x80:
        return byte, at + 1
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (text[at + 1] & 0x3F), at + 2
    if byte < 0xF0:
        code = ((byte & 0x0F) << 12) | ((text[at + 1] & 0x3F) << 6) | (text[at + 2] & 0x3F)
        return code, at + 3
    code = ((byte & 0x07) << 18) | ((text[at + 1] & 0x3F) << 12)
    return code | ((text[at + 2] & 0x3F) << 6) | (text[at + 3] & 0x3F), at + 4


@kernel
def words(text, begin, kind, strings, out):
    """Number the words of UTF-8 bytes from `begin` on; return (where it stopped, words in `out`).

    Equivalent to: `re.findall` of a character that BEGINS and all that follow it and GO_ON. `kind` has
    an entry per character code.
    """
    n = 0
    at = np.int64(begin)
    while at < text.size:
        code, after = _character(text, at)
        if not kind[code] & _BEGINS:
            at = after
            continue
        first = at
        state = strings.seed
        while True:
            for k in range(at, after):
                state = (state ^ np.uint64(text[k])) * _PRIME
            at = after
            if at == text.size:
                break
            code, after = _character(text, at)
            if not kind[code] & _GOES_ON:
                break
        if n == out.size or not has_room(strings, at - first):
            return first, n
        out[n] = number_of(strings, text, first, at, state)
        n += 1
    return at, n


@kernel
def pieces(text, begin, strings, out):
    """Number the pieces of texts between spaces; return (where it stopped, how many are in `out`).

    A piece begins after a space and reaches to the next space that does not itself follow one, so of
    several spaces all but the first belong to the piece after them. SEPARATOR follows every text and is
    written as TEXT_END. A text that begins with WHOLE is a single piece, without that byte. An empty
    text has none. `begin` is the beginning of a text, or where the last call stopped.
    """
    n = 0
    at = np.int64(begin)
    while at < text.size:
        if n == out.size:
            return at, n
        if text[at] == _SEPARATOR:
            out[n] = TEXT_END
            n += 1
            at += 1
            continue
        begins = at == 0 or text[at - 1] == _SEPARATOR
        whole = begins and text[at] == _WHOLE
        first = at
        if whole or (not begins and text[at] == _SPACE):
            first += 1
        end = first
        state = strings.seed
        spaces = True
        while text[end] != _SEPARATOR and (whole or spaces or text[end] != _SPACE):
            spaces = spaces and text[end] == _SPACE
            state = (state ^ np.uint64(text[end])) * _PRIME
            end += 1
        if not has_room(strings, end - first):
            return at, n
        out[n] = number_of(strings, text, first, end, state)
        n += 1
        at = end
    return at, n
