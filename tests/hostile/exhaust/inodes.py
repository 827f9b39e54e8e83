# Files, folders and links without end.
import os

count = 0
try:
    while count < 5000:
        os.mkdir(f"/tmp/autograder_left_{count}")
        count += 1
except OSError as error:
    print(error.strerror)
print(f"probe more than 1000 inodes: {'ok' if count > 1000 else 'refused'}")
