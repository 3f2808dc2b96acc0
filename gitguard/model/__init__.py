"""Plain values: no disk, no git, no clock."""
