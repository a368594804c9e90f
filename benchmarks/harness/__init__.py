"""What every benchmark uses: data, systems, rows on disk, intervals, claims, tables and pictures.

Nothing here imports engine, papers or peers."""
