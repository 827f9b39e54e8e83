# Prints without end while it is loaded.
# reason: printed more than
while True:
    print("again" * 10_000)
