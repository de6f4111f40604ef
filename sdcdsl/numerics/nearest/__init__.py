"""Closest tables: min ‖z‖ over M z = 0, l ≤ z ≤ u, in the norms of paper 004, at any scale of the data."""
