"""Writers of what leaves the house: released tables and certificates."""
