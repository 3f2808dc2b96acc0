"""Files, folders, locks and child processes: what a crash or a link cannot turn against us."""
