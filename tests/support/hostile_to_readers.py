"""A submission of ps1 that attacks whoever reads its feedback: everything a student can put on a page is hostile."""

import matplotlib.pyplot as plt

ATTACK = (
    "</style></pre></textarea></title><script>window.hurt = 1; alert(1)</script>"
    "<img src=x onerror='window.hurt = 1'><img src=https://tracker.invalid/p.png>"
    "<svg onload='window.hurt = 1'><a href='javascript:window.hurt=1'>go</a></svg>"
    "<meta http-equiv=refresh content='0;url=https://tracker.invalid/'>"
    " {{ 7 * 7 }} {% raw %} {# gone #} `<b onclick=alert(1)>` --> ]]> &lt;"
    " \x1b[31m\x1b]8;;https://tracker.invalid\x07 \u202egnp.exe\u2066 \x00 \x9b \ufffe"
    " ![pixel](https://tracker.invalid/p.png) [go](javascript:alert(1)) $\\frac{$ $\\mathdefault{10^{9}}$" + "W" * 500
)
print(ATTACK)


def mix(weights, values):
    raise ValueError(ATTACK)


def softmax(scores, axis=-1):
    raise type(ATTACK, (Exception,), {})(ATTACK)


def scaled_scores(queries, keys):
    return ATTACK


def attention(queries, keys, values, mask=None):
    print(ATTACK)
    raise AssertionError("Hint: " + ATTACK + "\nLikely slip: " + ATTACK)


def heatmap(weights, tokens):
    figure, axes = plt.subplots(len(ATTACK) and 2)
    figure.suptitle(ATTACK, parse_math=False)
    for part in axes:
        image = part.imshow(weights, extent=(0, 1, 0, 1))
        part.plot([0, 1, float("nan")], [0, float("inf"), 1], label=ATTACK, marker="$<script>$", linestyle="--")
        part.set_title(ATTACK, parse_math=False)
        part.set_xlabel(ATTACK, parse_math=False)
        part.set_xticks([0, 1], [ATTACK, ATTACK])
        part.text(0, 0, ATTACK, parse_math=False)
        part.legend()
    figure.colorbar(image, label=ATTACK)
    return figure


causation = ATTACK
swapped = ATTACK

raise RuntimeError(ATTACK)
