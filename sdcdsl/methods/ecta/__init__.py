"""Enhanced controlled tabular adjustment (paper 001): another table, and how far it may be from the truth."""
