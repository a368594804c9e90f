"""Sweeps in shards: on one machine, or on many."""
