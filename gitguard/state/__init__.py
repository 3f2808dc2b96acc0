"""The domain, without disk, git or clock: task state, its changes, a checkpoint's record."""
