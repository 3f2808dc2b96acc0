"""pi: advice."""
