"""How often something was done, in words: `3 to 5 runs`, from what the rows hold."""

from __future__ import annotations

from collections.abc import Iterable


def counted(numbers: Iterable[int], what: str = "run") -> str:
    """`1 run`, `3 runs`, `3 to 5 runs`; `no runs yet` without any."""
    found = sorted(set(numbers))
    if not found:
        return f"no {what}s yet"
    if found == [1]:
        return f"1 {what}"
    return f"{found[0]} {what}s" if len(found) == 1 else f"{found[0]} to {found[-1]} {what}s"
