"""A session's durable whole: state, journal, checkpoints, and what says that they are ours."""
