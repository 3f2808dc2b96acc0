"""Factory Droid's sessions (recorded with 0.225.2)."""
