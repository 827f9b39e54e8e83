"""What each `course` command does with its arguments: checks them, calls the engine, and shows the outcome."""
