"""The version of this program. It stands here, and not at the top of the package, so that every layer may know it."""

__version__ = "0.1.0"
