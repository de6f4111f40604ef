"""File formats that a policy may name: one file a format, with its name, its options, and what reads and writes it.

`sdcdsl check` reads these descriptions, so libraries of data are imported by the functions that use them.
"""
