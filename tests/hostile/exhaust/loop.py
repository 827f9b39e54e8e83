# An infinite loop in a call.
# reason: {time}
def double(values):
    while True:
        pass
