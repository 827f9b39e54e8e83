# An infinite loop in a call.
# reason: did not finish within 0.4 s
def double(values):
    while True:
        pass
