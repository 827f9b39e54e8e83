# Ends the process with status 0 in the middle of loading.
# reason: ended the whole process \(exit status 0\)
import os

os._exit(0)
