# Puts a hidden test's inputs into everything a student may read: prints, exceptions, warnings, type and function names.
import sys
import warnings


def double(values):
    text = f"{values.flat[0]:.0f}"
    print(text, values)
    print(text, file=sys.stderr)
    warnings.warn(text)
    globals()["double" + text] = double
    raise type("Error" + text, (ValueError,), {"__doc__": text})(text)


def softmax(scores):
    text = f"{max(abs(scores)) * 1e6:.0f} {max(abs(scores)):.0f}"
    exec(compile(f"def seen_{text.replace(' ', '_')}(): raise RuntimeError({text!r})\nseen_{text.replace(' ', '_')}()", f"<submission> {text}", "exec"))


def apply(layer, x):
    raise NotImplementedError(f"{x[0]:.0f}")


note = "not yet"
