"""Compiled kernels: numba only, no validation, no printing, no allocation per document."""
