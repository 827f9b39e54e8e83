"""Wrong answers to problem set 6 that have been seen or are likely."""
