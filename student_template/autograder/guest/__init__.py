"""What runs beside the student's code: the wire format, loading a submission, and locking the process down."""
