"""What runs only inside the sandbox: lock the process down, then load a submission and answer calls."""
