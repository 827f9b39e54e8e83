# Leaves files where the next submission, or the grader, may find them.
import os

for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/run/user/0", "@HOME@", "@HOME@/.config", "@HOME@/.cache", "@COURSE@", "@JOURNAL@", "."):
    try:
        with open(f"{folder}/autograder_left_note", "w") as file:
            file.write("left by an earlier submission")
    except OSError as error:
        print(f"{folder}: {error.strerror}")
