"""Trains problem set 6's melody model with the reference and writes the maps that the explorer shows: `melody.json`.

Run it after a change of the model: `python assignments/explorer/melody.py`. It takes about half a minute.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "solutions"))

import ps6_what_a_weight_explains as reference  # noqa: E402 (it lies outside the path)

STEPS, BATCH, WIDTH, MODEL_SEED, DATA_SEED = 500, 32, 32, 61, 62
PERIODS = (5, 8, 10)
PLACES = 4  # decimal places of a weight; the explorer says so


def main() -> None:
    """Train, and write one melody of each period with the weights of both layers."""
    positions = reference.sinusoids(reference.LENGTH, WIDTH)
    batches = reference.melodies((STEPS, BATCH), DATA_SEED)[:3]
    model, losses = reference.train_lm(
        reference.new_model(MODEL_SEED, WIDTH), positions, batches, np.linspace(5e-3, 2.5e-4, STEPS)
    )
    melodies = []
    for period in PERIODS:
        tokens, *_ = reference.melodies((1,), DATA_SEED + period, period, period)
        _, tables = reference.lm_forward(model, positions, tokens)
        # A note reads no later note, so half of each table is zero and left out.
        maps = [
            [[round(float(w), PLACES) for w in row[: place + 1]] for place, row in enumerate(table[0])] for table in tables
        ]
        melodies.append({"period": period, "notes": [int(note) for note in tokens[0]], "maps": maps})
    text = json.dumps({"last_loss": round(float(losses[-1]), 4), "melodies": melodies}, separators=(",", ":"))
    (HERE / "melody.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
