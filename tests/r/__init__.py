"""The package for R, by R itself."""
