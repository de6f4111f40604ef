"""Cell suppression (paper 003 §3): which cells to hide, so that every sensitive one stays uncertain enough."""
