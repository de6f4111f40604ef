"""The version of this program. It stands here, and not at the top of the package, so that every room may know it."""

__version__ = "0.1.0"
