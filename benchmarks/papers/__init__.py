"""Every table and figure of the five papers whose data are here: `python -m benchmarks papers`."""
