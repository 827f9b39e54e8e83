# An infinite loop in a call.
# reason: did not finish within 1 s
def double(values):
    while True:
        pass
