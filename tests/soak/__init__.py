"""Random policies on random tables by all methods, for as long as one likes: `python -m tests.soak --help`."""
