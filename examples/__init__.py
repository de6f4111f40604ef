"""Examples with invented data. A package, so that their scripts can share the generator."""
