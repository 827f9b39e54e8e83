# Right-to-left overrides, zero-width and combining characters, and line separators, in names and texts.
TEXT = "\u202e\u2066passed\u2069\u200b\u2028\u2029\x85\ufeff" + "e" + "\u0301" * 500
print(TEXT)
note = TEXT
globals()["x" + TEXT] = 1


def double(values):
    raise ValueError(TEXT)


raise RuntimeError(TEXT)
