"""Configuration: defaults, what a user may set, and how far a repository may go."""
