"""Disk and git: everything durable goes through this floor."""
