"""What loads and calls a submission, on a student's laptop and in the sandbox alike, and the values that cross the wire."""
