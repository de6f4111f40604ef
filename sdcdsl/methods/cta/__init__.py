"""Controlled tabular adjustment: another table, as close as possible, with every sensitive cell far enough away."""
