# Calls the reference with arguments that no function takes: its own name for itself, functions, thousands of keywords.
# problem set: layers
# expect: 2 points
import contextlib


def halve(x):
    return x


def quarter(x):
    for args, kwargs in (
        ((), {}), ((x,), {"self": 1}), ((), {"name": "stack", "args": ()}), ((halve,), {}), ((lambda: 1,), {}),
        ((None,), {}), (("text",), {}), ((), {f"k{place}": 1 for place in range(5000)}), ((float("nan"),) * 200, {}),
    ):
        with contextlib.suppress(Exception):
            halve(*args, **kwargs)
    return halve(halve(x))
