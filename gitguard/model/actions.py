"""What happens to a thing between two moments, in the words of every list and document."""

ADDED, CHANGED, REMOVED = ACTIONS = ("added", "changed", "removed")
