# Bytes on standard output that are no UTF-8, cut in the middle of a character, with carriage returns and backspaces.
import os

os.write(1, b"\xff\xfe\xc3" + b"\b" * 100 + b"\rtotal 11/11\r" + b"\xe2\x80")
os.write(2, bytes(range(256)))
