"""The resume block: what an agent needs after a compaction, a crash or in a new conversation."""
