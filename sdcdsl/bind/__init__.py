"""Policy and data become one sparse system with levels and attackers: the table problem."""
