"""Text ↔ tree. Knows the grammar, and no statistics."""
