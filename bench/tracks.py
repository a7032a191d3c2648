#!/usr/bin/env python3
"""Scores the tracks of runs of `starling filter` against the truth of their scans, by formulas of its own.

    starling filter cross.yaml --out a ; starling filter cross.yaml --set 'method={bootstrap: {particles: 20000}}' --out b
    python3 bench/tracks.py a b

A run is a folder, or a file of JSON lines with time, truth and tracks (bench/peers/jpda.py writes one). Printed are, for each run:

NEES      mean of (m - x)' P^-1 (m - x) over targets and scans; right is the number of coordinates, 4. After it the 95 % interval of the mean
          of so many independent states; those of successive scans depend on each other, so the true one is wider.
coverage  share of the positions' coordinates within 1.96 sd; .95 is right
RMSE, sd  of a coordinate of a position, and what the filter claims
GOSPA     mean over scans of sqrt(sum min(d, c)^2), the best assignment, with p = 2, alpha = 2, c = 10 sd of a return or --cutoff
lost      targets whose estimate is farther than the cutoff in five scans in a row, or more
"""
import argparse
import itertools
import json
import math
import os


def lines(run):
    name = os.path.join(run, "trace.jsonl") if os.path.isdir(run) else run
    return [json.loads(line) for line in open(name) if line.strip()]


def solve(a, b):
    """Solves a symmetric positive definite system by elimination."""
    n = len(b)
    m = [list(map(float, a[i])) + [float(b[i])] for i in range(n)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for c in range(i, n + 1):
                m[r][c] -= f * m[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


def chi_square(degrees, z):
    """A quantile, by Wilson and Hilferty."""
    v = 2 / (9 * degrees)
    return degrees * (1 - v + z * math.sqrt(v)) ** 3


def far(mean, truth):
    return math.dist([float(v) for v in mean[:2]], truth[:2])


def score(steps, cutoff):
    """The sums of a run. A true target belongs to the nearest track of the first scan."""
    tracks = {t["id"]: t for t in steps[0]["tracks"]}
    truth = steps[0]["truth"]
    ids = min((dict(zip(truth, p)) for p in itertools.permutations(tracks, len(truth))),
              key=lambda pairs: sum(far(tracks[t]["mean"], truth[i]) ** 2 for i, t in pairs.items()))
    out = dict(nees=[], within=0, coordinates=0, squares=0.0, variances=0.0, gospa=[], lost=0)
    run = {i: 0 for i in ids}
    longest = dict(run)
    for s in steps:
        tracks = {t["id"]: t for t in s["tracks"]}
        for i, x in s["truth"].items():
            t = tracks[ids[i]]
            d = [float(m) - v for m, v in zip(t["mean"], x)]
            if len(x) == len(t["mean"]):
                out["nees"].append(sum(a * b for a, b in zip(d, solve(t["cov"], d))))
            for c in range(2):
                out["coordinates"] += 1
                out["squares"] += d[c] ** 2
                out["variances"] += t["cov"][c][c]
                out["within"] += d[c] ** 2 <= 1.96 ** 2 * t["cov"][c][c]
            run[i] = run[i] + 1 if far(t["mean"], x) > cutoff else 0
            longest[i] = max(longest[i], run[i])
        places = list(s["truth"].values())
        out["gospa"].append(math.sqrt(min(
            sum(min(far(tracks[t]["mean"], x), cutoff) ** 2 for t, x in zip(p, places))
            for p in itertools.permutations(tracks, len(places)))))
    out["lost"] = sum(n >= 5 for n in longest.values())
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("runs", nargs="+")
    args.add_argument("--cutoff", type=float, default=10)
    o = args.parse_args()
    print("| run | NEES | 95 % of the mean | coverage | RMSE | sd | GOSPA | lost |\n|---|---|---|---|---|---|---|---|")
    for run in o.runs:
        s = score([s for s in lines(run) if s.get("truth") and s.get("tracks")], o.cutoff)
        n, dim = len(s["nees"]), 4
        low, high = (chi_square(dim * n, z) / n for z in (-1.96, 1.96))
        print(f"| {run} | {sum(s['nees']) / n:.2f} | {low:.2f} to {high:.2f} | {s['within'] / s['coordinates']:.3f} "
              f"| {math.sqrt(s['squares'] / s['coordinates']):.3f} | {math.sqrt(s['variances'] / s['coordinates']):.3f} "
              f"| {sum(s['gospa']) / len(s['gospa']):.2f} | {s['lost']} |")


main()
