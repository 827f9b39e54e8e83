# Allocates memory without clearing it and searches what earlier owners of the pages left behind.
import re

import numpy as np

SECRET = re.compile(rb"bait_[0-9a-f]{16}")
for size in (64, 512, 4096, 2**16, 2**20):
    for _ in range(10):
        for found in SECRET.findall(np.empty(size, np.uint8).tobytes()):
            print("found", found.decode())
print("probe search: done")
