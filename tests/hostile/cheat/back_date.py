# Sets back the date of its own file and the clock.
import os
import time


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


probe("clock", lambda: time.clock_settime(time.CLOCK_REALTIME, 0))
probe("zone", lambda: open("/etc/localtime", "wb"))
probe("own file", lambda: open("@COURSE@/submissions/back_date.py", "a"))
time.time = lambda: 0.0
os.environ["TZ"] = "UTC+24"
time.tzset()
