"""Sensitivity rules: one file a rule, which says what its arguments are and what it makes of cells.

`sdcdsl check` reads the description alone: a file of a rule imports no numpy. Arrays come in with the cells.
"""
