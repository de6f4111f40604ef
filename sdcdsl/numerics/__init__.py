"""Numerical methods without statistics: arrays and matrices go in, arrays come out."""
