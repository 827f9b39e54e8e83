# Chooses an estimate that is none: of its own certainty, with the half-width that the formula gives for it.
# problem set: ps2
# expect: 0 points
def simulate_sign_of_mean(length, trials, seed):
    estimate = 1 - 1e-12
    return estimate, 1.96 * (estimate * (1 - estimate) / trials) ** 0.5
