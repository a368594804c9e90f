"""The race: coterie beside other packages on labelled sets (`python -m benchmarks peers`)."""
