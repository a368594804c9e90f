"""A few threads that do the same task on different parts, again and again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Task = Callable[[int], Any]
Order = tuple[Task, Callable[[], None]]


class Team:
    """`run(task)` calls task(0), ..., task(n - 1) at once and waits; the caller does its part, too.

    Tasks are numba kernels that let go of the interpreter; waking a thread costs 50 to 150 microseconds.
    Threads end when the team is forgotten: they hold the queues, not the team.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._orders: list[SimpleQueue[Order | None]] = [SimpleQueue() for _ in range(1, n)]
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        for part, orders in enumerate(self._orders, 1):
            arguments = (part, orders, self._done)
            name = f"coterie-{part}"
            threading.Thread(target=_serve, args=arguments, name=name, daemon=True).start()

    def run(self, task: Task, leave: Callable[[], None] = lambda: None) -> None:
        """All parts of one task. Parts that wait for each other need a word when one fails: `leave`."""
        try:
            for orders in self._orders:
                orders.put((task, leave))
            failed = _attempt(task, 0, leave)
        except BaseException:  # an interrupt between two lines
            leave()
            raise
        for _ in self._orders:
            failed = self._done.get() or failed
        if failed is not None:
            raise failed

    def __del__(self) -> None:
        for orders in self._orders:
            orders.put(None)


def _serve(
    part: int, orders: SimpleQueue[Order | None], done: SimpleQueue[BaseException | None]
) -> None:
    while (order := orders.get()) is not None:
        done.put(_attempt(order[0], part, order[1]))
        del order


def _attempt(task: Task, part: int, leave: Callable[[], None]) -> BaseException | None:
    try:
        task(part)
    except BaseException as error:
        leave()
        return error
    return None
