# A list of which NumPy would make terabytes: every item takes as much as the longest text.
# problem set: layers
# expect: 0 points
corners = ["A" * 5_000_000] + [0] * 150_000
