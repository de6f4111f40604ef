"""What an office adds to sdcdsl."""
