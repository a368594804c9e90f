"""Makes other people's texts safe to display: str in, str out. jinja2 escapes the markup.

Control characters and bidirectional overrides cannot be escaped: they affect whatever surrounds them.
So they are replaced by visible symbols (␛, [U+202E]); the rest of the text is unchanged. Marks that
right-to-left scripts and emoji need (U+200C..U+200F, U+061C) are harmless and kept.
"""

from __future__ import annotations

import re
from typing import Any

_ODD = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # controls
    r"\u2028\u2029"  # line and paragraph separator
    r"\u202a-\u202e\u2066-\u206f"  # embeddings, overrides, isolates, deprecated format characters
    r"\ufeff\ufff9-\ufffb\ufffe\uffff"  # byte order mark, annotations, noncharacters
    r"\ud800-\udfff]"  # lone surrogates: cannot be written as UTF-8
)
_SPACES = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")


def printable(value: Any) -> Any:
    """The same dict, list or str with every control character made visible.

    >>> printable({"name": "a\\x1b[31m\\u202eb", "sizes": [1, None]})
    {'name': 'a␛[31m[U+202E]b', 'sizes': [1, None]}
    """
    if isinstance(value, str):
        return _ODD.sub(_visible, value)
    if isinstance(value, dict):
        return {key: printable(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [printable(held) for held in value]
    return value


def shorten(text: str, most: int) -> str:
    """At most `most` characters, ending in an ellipsis if the text was shortened.

    >>> shorten("a long sentence", 8)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _visible(found: re.Match[str]) -> str:
    char = found.group()
    if char in _SPACES:
        return " "
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ␀ ␁ ...
    if code == 0x7F:
        return "␡"
    if code == 0xFEFF:
        return ""
    if code >= 0xFFFE or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"[U+{code:04X}]"
