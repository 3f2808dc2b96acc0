"""`python -m gitguard` is the `gitguard` command."""

from gitguard.cli import main

if __name__ == "__main__":
    main()
