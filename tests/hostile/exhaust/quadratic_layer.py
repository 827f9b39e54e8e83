# Hands a layer of the test arguments whose square no memory holds, and then some that keep it busy.
# problem set: layers
# expect: 0 points
# reason: stopped: (`keeps_order`|checking your answers)
import numpy as np


def keeps_order(layer, x):
    while True:
        for rows in (60_000, 43_000, 20_000, 7_000):
            try:
                layer(np.ones((rows, x.shape[1])))
            except Exception:
                pass
