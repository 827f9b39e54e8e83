"""What instructors of other platforms need, made from the same sources."""
