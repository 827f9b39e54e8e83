# Fills every place it may write to.
import os

total = 0
for folder in ("/tmp", "/dev/shm", "/var/tmp", ".", "/run", "/"):
    try:
        with open(os.path.join(folder, "autograder_left_large"), "wb") as file:
            while True:
                total += file.write(bytes(2**20))
    except OSError as error:
        print(folder, error.strerror)
print(f"probe more than 8 MB of disk: {'ok' if total > 8 * 2**20 else 'refused'}")
