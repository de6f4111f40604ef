"""Interval protection (papers 000 and 003 §4)."""
