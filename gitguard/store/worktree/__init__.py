"""Copies of the user's files: taken at checkpoints, looked at, and put back."""
