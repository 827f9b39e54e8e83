# Predicts a whole number that is larger than any float, to be asked whether it is finite.
# problem set: ps1
# reason: must be a number
guess_effect = 10**400
