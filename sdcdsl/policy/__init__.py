"""Meaning without data: what the statements of a policy say, checked as far as that goes without a single number."""
