"""Controlled rounding: the table in multiples of a base, additive, with every level kept."""
