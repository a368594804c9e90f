"""The GPU as the rest of the backend sees it: arrays, kernels by name, and free memory.

The only file that imports CuPy. The kernels are compiled on first use by CuPy, which keeps them on disk;
the loaded module is held for the life of the process.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, resources
from typing import Any

import numpy as np

from coterie._optional import PACKAGES
from coterie.errors import Unsupported

SOURCES = (
    "common.cuh", "weigh.cuh", "draw.cu", "counts.cu", "promote.cu", "uncollapsed.cu", "own.cuh", "fast.cu",
    "wide.cu", "columns.cu",
)  # fmt: skip
INSTALL = (
    f"Try: pip install {PACKAGES['cuda12']}, or {PACKAGES['cuda13']}, whichever your driver has"
)
SMALL_SHARED = 48 * 2**10  # bytes that every kernel may use without asking


def source() -> str:
    """All kernels as one text."""
    folder = resources.files("coterie.backends.cuda")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in SOURCES)


def missing() -> str | None:
    """Why there is no GPU to use, in a sentence; None if there is one."""
    try:
        cupy = import_module("cupy")
    except ImportError:
        return f"backend='cuda' needs cupy, which is not installed. {INSTALL}."
    try:
        if cupy.cuda.runtime.getDeviceCount() > 0:
            return None
        reason = "CUDA finds no device"
    except Exception as error:  # CuPy's own errors: no driver, or one that is too old
        reason = str(error).strip().rstrip(".") or type(error).__name__
    return f"backend='cuda' finds no NVIDIA GPU ({reason}). Use backend='cpu', or check the driver."


@cache
def get() -> Device:
    """The current device, with its kernels."""
    why = missing()
    if why:
        raise Unsupported(why)
    return Device(import_module("cupy"))


class Device:
    """Arrays (`xp`, as NumPy) and kernels of one GPU."""

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.n_processors = int(properties["multiProcessorCount"])
        self.max_shared = int(properties["sharedMemPerBlockOptin"])
        self._module = cupy.RawModule(code=source(), options=("-std=c++17",))
        self._kernels: dict[str, Any] = {}

    def launch(
        self, name: str, grid: Any, block: int, args: tuple[Any, ...], shared: int = 0
    ) -> None:
        """Run a kernel with this many blocks of threads; `shared` is in bytes."""
        kernel = self._kernels.get(name)
        if kernel is None:
            kernel = self._kernels[name] = self._module.get_function(name)
        if shared > SMALL_SHARED and kernel.max_dynamic_shared_size_bytes < shared:
            kernel.max_dynamic_shared_size_bytes = self.max_shared - 4096
        kernel(grid if isinstance(grid, tuple) else (grid,), (block,), args, shared_mem=shared)

    def multiply(self, left: Any, right: Any, out: Any) -> None:
        """out = left @ right: half precision in (as uint16), sums and result in single precision."""
        cublas, one = self.xp.cuda.cublas, np.ones(1, np.float32)
        zero, (n, depth), width = np.zeros(1, np.float32), left.shape, right.shape[1]
        half, single, compute, default = 2, 0, 68, -1  # as cuBLAS numbers them
        cublas.gemmEx(
            self.xp.cuda.device.get_cublas_handle(), cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_N, width, n,
            depth, one.ctypes.data, right.data.ptr, half, width, left.data.ptr, half, depth,
            zero.ctypes.data, out.data.ptr, single, width, compute, default,
        )  # fmt: skip

    def to_host(self, array: Any) -> Any:
        """A NumPy copy."""
        return self.xp.asnumpy(array)

    def free_bytes(self) -> int:
        """Memory that could be taken now: what the card has free, and what CuPy keeps for later use."""
        free, _ = self.xp.cuda.runtime.memGetInfo()
        pool = self.xp.get_default_memory_pool()
        return int(free) + int(pool.free_bytes())

    def give_back(self) -> None:
        """Return memory that no array uses."""
        self.xp.get_default_memory_pool().free_all_blocks()
