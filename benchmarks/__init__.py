"""Measurements of coterie beside its peers, outside the wheel: `python -m benchmarks --help`."""
