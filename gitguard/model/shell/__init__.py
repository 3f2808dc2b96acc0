"""Shell lines: what a shell would run of one, read without running anything."""
