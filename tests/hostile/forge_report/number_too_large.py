# A whole number that fits no float among the numbers of a table: NumPy raises what no test expects.
# problem set: layers
# expect: 0 points
corners = [[2**5000, 0.5], [1.5, 2**5000], [0, 1]]
