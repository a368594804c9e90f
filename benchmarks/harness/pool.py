"""Runs that are not timed, side by side: `BENCH_JOBS` processes, one thread each."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")


def spread(
    function: Callable[[Task], Found], tasks: Sequence[Task]
) -> Iterator[tuple[Task, Found]]:
    """Each task with what the function made of it, as they are finished; put the longest first."""
    jobs = int(os.environ.get("BENCH_JOBS") or 1)
    context = multiprocessing.get_context("spawn")  # a forked OpenMP may hang
    with ProcessPoolExecutor(min(jobs, len(tasks)), context, one_thread) as executor:
        futures = {executor.submit(function, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            executor.shutdown(cancel_futures=True)  # stopped: what has not begun is not done


def alone(function: Callable[[Task], Found], task: Task) -> Found:
    """What the function makes of the task in a new process with one thread: for what is timed."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, one_thread) as executor:
        return executor.submit(function, task).result()


def one_thread() -> None:
    """Keep BLAS and OpenMP of this process to one thread."""
    import sklearn.cluster  # noqa: F401  (the limit holds for libraries already loaded)
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
