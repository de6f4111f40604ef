"""Accelerators: ways to solutions of the models in `sdcdsl.methods`, for tables where a solver alone is too slow."""
