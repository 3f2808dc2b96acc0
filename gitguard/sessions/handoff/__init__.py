"""The hand-off file: written before a compaction, handed back once after it."""
