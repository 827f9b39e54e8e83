from autograder.variants import mutant


@mutant("keeps_order", hint="You may be saying yes to every layer.")
def always_true(layer, x):
    return True


@mutant("momentum", hint="You may have left the old average out.")
def no_memory(theta, slope, m):
    return theta - 0.01 * slope, slope


@mutant("stack", replaces="stack", hint="You may be applying the layer once.")
def once(layer, x, times):
    return layer(x)
