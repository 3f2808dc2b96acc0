"""One folder per host's transcript format, and one table of them."""
