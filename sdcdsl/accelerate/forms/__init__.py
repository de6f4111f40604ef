"""Forms of publication: solutions of its model for tables that a solver alone takes too long for."""
