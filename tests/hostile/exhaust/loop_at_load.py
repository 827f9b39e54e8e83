# An infinite loop at the top of the module; definitions after it are still judged.
# expect: 3 points
# reason: {time}
def double(values):
    return 2 * values


while True:
    pass
