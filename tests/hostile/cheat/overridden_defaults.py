# Asks a layer with weights of its own choice, which tell whether places are added to what they give.
# problem set: layers
# expect: 1 point
import numpy as np


def keeps_order(layer, x):
    zeros = np.zeros((x.shape[1], x.shape[1]))
    for arguments, keywords in (((x, zeros), {}), ((x,), {"weights": zeros})):
        try:
            return bool(np.abs(layer(*arguments, **keywords)).max() == 0)
        except Exception:
            pass
    return True
