"""Clusters texts that do not fit into memory: their words lie on disk, and are swept in shards."""

from __future__ import annotations

from coterie.large.clustering import cluster_large

__all__ = ["cluster_large"]
