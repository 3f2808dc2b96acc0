"""Looking at the work: what each checkpoint says, and how two of them differ."""
