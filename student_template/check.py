"""`python check.py ps1` runs the public tests of your work; `--help` lists what else there is."""

import sys

from autograder.kit.command import main

if __name__ == "__main__":
    sys.exit(main())
