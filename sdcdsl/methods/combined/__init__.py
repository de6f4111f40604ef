"""Several forms of publication in one table."""
