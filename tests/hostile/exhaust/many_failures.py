# Thousands of statements that fail, each described with a message of megabytes.
class Long(Exception):
    def __str__(self):
        return 'x' * 10_000_000


raise Long  # @TIMES 3000@
