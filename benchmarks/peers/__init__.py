"""The race of coterie and other packages on labelled sets: `python -m benchmarks peers`."""
