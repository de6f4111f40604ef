"""Controlled rounding: solutions of its model for tables that a solver alone takes too long for."""
