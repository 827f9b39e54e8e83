# HTML, script, Markdown, LaTeX and spreadsheet formulas in everything that is shown to a person.
TEXT = (
    '<script>alert(1)</script><img src=x onerror=alert(1)>"><svg/onload=alert(1)> [click](javascript:alert(1)) '
    "$\\input{/etc/passwd}$ =cmd|'/c calc'!A1 @SUM(1) ]]> --> ${7*7} {{7*7}} %s%n ../../x"
)
print(TEXT)
note = TEXT


def double(values):
    raise ValueError(TEXT)


def softmax(scores):
    return TEXT


raise RuntimeError(TEXT)
