"""Right answers to problem set 6 in other styles."""
