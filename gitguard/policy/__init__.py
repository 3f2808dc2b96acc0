"""What to advise: pure decisions about the work, the context and the settings, with reasons."""
