"""A language for protecting statistical tables before publication, and its compiler."""

__version__ = "0.1.0"
