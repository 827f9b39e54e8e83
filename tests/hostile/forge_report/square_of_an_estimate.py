# An estimate whose square no float holds: arithmetic of Python raises where NumPy's would not.
# problem set: ps2
# expect: 0 points
def simulate_sign_of_mean(length, trials, seed):
    return 1e300 + seed * 1e290, 1e300


def sign_of_mean_accuracy(length):
    return -1e308


def equivariance_gap(layer, x, order):
    return 10**300
