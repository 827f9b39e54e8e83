# Prints without end while it is loaded.
# reason: printed more than|{time}
while True:
    print("again" * 10_000)
