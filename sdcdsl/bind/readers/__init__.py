"""Files as offices have them, one format a module.

Every reader returns its value, or None, together with the diagnostics it found; bad input never raises. A source is a
path, or a `Source` (name and text) already in memory. Nothing in a file is ever evaluated.
"""
