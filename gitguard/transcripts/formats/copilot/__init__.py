"""GitHub Copilot CLI's event logs (recorded with 1.0.102)."""
