"""Host settings: advised, changed, rolled back; and gitguard's own installation."""
