"""Tests that need a GPU: `make test-cuda`. Elsewhere every one of them is skipped, and says why."""

import pytest

from coterie.backends.cuda import _device


@pytest.fixture(scope="session", autouse=True)
def _gpu() -> None:
    why = _device.missing()
    if why:
        pytest.skip(why)
