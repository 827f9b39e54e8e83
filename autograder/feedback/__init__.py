"""What people read after grading: a page for each student, and one for staff."""
