"""Generated histories that know who wrote each line."""
