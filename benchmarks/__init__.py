"""Measurements of coterie and of other packages, outside the wheel: `python -m benchmarks --help`."""
