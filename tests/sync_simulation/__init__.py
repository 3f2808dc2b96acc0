"""Eight clones and a bare repository, with the real git: whatever happens, no record is lost."""
