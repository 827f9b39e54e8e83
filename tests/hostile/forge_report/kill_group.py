# Kills its process group, which it shares with the process that forks the guests, across the border of its namespace.
import os
import signal

for number in (signal.SIGTERM, signal.SIGKILL):
    try:
        os.kill(0, number)
        print("sent", number)
    except OSError as error:
        print(error)
