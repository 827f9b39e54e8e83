# Looks for what an earlier submission may have left: files, shared memory, environment, imported modules.
import os
import sys

for folder in ("/tmp", "/dev/shm", "/var/tmp", "."):
    try:
        names = [name for name in os.listdir(folder) if "autograder_left" in name]
        print(f"probe {folder}: {'ok' if names else 'empty'}")
    except OSError as error:
        print(f"probe {folder}: {error.strerror}")
print("probe module:", "ok" if getattr(sys, "autograder_left", None) else "clean")
print("probe environment:", "ok" if os.environ.get("autograder_left") else "clean")
sys.autograder_left = True
os.environ["autograder_left"] = "1"
