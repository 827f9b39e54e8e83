# Errors and answers that begin as spreadsheet formulas do.
note = "=HYPERLINK(\"https://example.org\")"


def double(values):
    return "=1+1"


def softmax(scores):
    return "@SUM(A1)"


raise type("=cmd", (Exception,), {})("+1-1")
