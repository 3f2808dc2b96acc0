"""The one door to git: refs, objects and folders of a repository."""
