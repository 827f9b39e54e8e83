# A literal nested two thousand deep and a sum of fifty thousand terms, for the parser.
import ast

deep = "(" * 2000 + ")" * 2000
wide = "1" + "+1" * 50_000
for text in (deep, wide, "-" * 100_000 + "1"):
    try:
        ast.literal_eval(text)
    except BaseException as error:
        print(type(error).__name__)
