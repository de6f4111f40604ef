"""Files of the old world become policies."""
