"""Makes switch.json: the kernel's loss, posterior and gradient at chosen points, from 50-digit arithmetic.

    pip install mpmath && python3 golden/make_switch.py

Every implementation of the kernel (Rust, NumPy, PyTorch, JAX, Burn) is tested against this one file. The inputs are numbers that
single precision holds exactly, so that tests in either precision start from the same point. The outputs are the exact values,
rounded once to double precision.

    l  clean negative log-likelihood       g  prior logit       a  anomaly log-likelihood
    loss       -log[(1 - pi) exp(-l) + pi exp(a)],  pi = 1 / (1 + exp(-g))
    posterior  r = 1 / (1 + exp(-(g + l + a)))
    d_clean    dL/dl = 1 - r        d_prior  dL/dg = pi - r        d_anomaly  dL/da = -r
"""

import json
import random
import struct
from pathlib import Path

from mpmath import mp, mpf

# 50 digits of the result: the differences of the tails cancel up to some 900 digits, so that is what is carried.
DIGITS = 50
CARRIED = 1500


def single(value):
    """The nearest number that single precision holds."""
    return struct.unpack("f", struct.pack("f", value))[0]


def points():
    """The centre, the borders between the branches, both tails, and a seeded cloud."""
    corners = [
        (0.0, 0.0, 0.0),
        (2.0, -1.0, -0.5),
        (0.0, -2.0, -2.302585),
        (1e-6, -2.0, -1e-6),
        (0.5, 3.0, -0.5),  # l + a = 0: r = pi, so dL/dg = 0 exactly
        (5.0, 0.0, -5.0),
        (1e-3, -20.0, -1e-3),
        (40.0, -3.0, -2.0),
        (1e-4, -30.0, -2.0),
        (700.0, 0.0, -1.0),
        (-700.0, 0.0, -1.0),
        (1.0, 700.0, -800.0),
        (1.0, -700.0, -1.0),
        (1e4, 0.0, -1e4),
        (1e4, -50.0, -3.0),
        (-30.0, 10.0, 25.0),
        (30.0, -60.0, 30.0),
        (3.0, 80.0, -2.0),
        (3.0, -80.0, -2.0),
        (0.1, -5.0, -0.1000001),
        (8.5, 1e-5, -8.500001),
    ]
    chance = random.Random(2026)
    cloud = [
        (chance.gauss(0, scale) + scale / 2, chance.gauss(-2, scale), chance.gauss(-scale / 2, scale))
        for scale in (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
        for _ in range(20)
    ]
    return [tuple(single(value) for value in point) for point in corners + cloud]


def exact(l, g, a):
    """The five outputs of one point, each rounded once to double precision."""
    l, g, a = mpf(l), mpf(g), mpf(a)
    prior = 1 / (1 + mp.exp(-g))
    rest = 1 / (1 + mp.exp(g))
    odds = g + l + a
    posterior = 1 / (1 + mp.exp(-odds))
    values = {
        "loss": -mp.log(rest * mp.exp(-l) + prior * mp.exp(a)),
        "posterior": posterior,
        "d_clean": 1 / (1 + mp.exp(odds)),
        "d_prior": prior - posterior,
        "d_anomaly": -posterior,
    }
    return {name: float(mp.nstr(value, DIGITS)) for name, value in values.items()}


def main():
    """Writes the file beside this script, one point a line."""
    mp.dps = CARRIED
    rows = [{"l": l, "g": g, "a": a, **exact(l, g, a)} for l, g, a in points()]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    path = Path(__file__).with_name("switch.json")
    path.write_text(f'{{"made_by": "golden/make_switch.py, {DIGITS} digits", "rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
