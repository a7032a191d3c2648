#!/usr/bin/env python3
"""Counts how often `starling predict` calls rows outside or foreign: clean test rows, which are false alarms, and rows broken in ten ways.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/python bench/alarms.py --data DIR [--starling starling] [--splits 5] [--sets wine,digits] [--out runs/alarms] [--set KEY=VALUE ...]

DIR and the tables are those of bench/tables.py, with its splits of 75 % training and 25 % test rows. Each run is fitted with nothing set by
hand but --set, which may make it faster (`--set method=ensemble`): what lies outside depends on the training rows alone, what is foreign
on the posterior's energies, too. The figures are shares of the test rows of all splits, in percent; pooled counts every row once.
"""
import argparse
import csv
import os
import shutil
import subprocess

import numpy as np

from tables import CLASSES, NUMBERS, splits, table


def swap(X):
    """Each pair of neighbouring columns changes places."""
    order = np.arange(X.shape[1])
    for k in range(0, len(order) - 1, 2):
        order[k], order[k + 1] = order[k + 1], order[k]
    return X[:, order]


def one(X, change):
    """A copy in which the column of the largest mean magnitude is changed."""
    X = X.copy()
    k = np.abs(X).mean(0).argmax()
    X[:, k] = change(X[:, k])
    return X


BROKEN = {
    "clean": lambda X, T: X,
    "times 10": lambda X, T: X * 10,
    "by 25.4": lambda X, T: X / 25.4,
    "one column times 1,000": lambda X, T: one(X, lambda x: 1000 * x),
    "one column as 255": lambda X, T: one(X, lambda x: 255 * x),
    "columns swapped": lambda X, T: swap(X),
    "one column zero": lambda X, T: one(X, lambda x: 0 * x),
    "signs": lambda X, T: -X,
    "plus 2 ranges": lambda X, T: X + 2 * (T.max(0) - T.min(0)),
    "one value extreme": lambda X, T: one(X, lambda x: np.where(x == x, 1e12, x)),
    "noise of 1 sd": lambda X, T: X + T.std(0) * np.random.default_rng(0).normal(size=X.shape),
}


def write(path, names, X, y=None):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow([*names, "target"] if y is not None else names)
        for i, row in enumerate(X):
            w.writerow([*map(repr, map(float, row)), y[i]] if y is not None else map(repr, map(float, row)))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--data", required=True)
    a.add_argument("--starling", default="starling")
    a.add_argument("--splits", type=int, default=5)
    a.add_argument("--sets", default=",".join(CLASSES + NUMBERS))
    a.add_argument("--out", default="runs/alarms")
    a.add_argument("--set", action="append", default=[])
    a.add_argument("--threads", default="1")
    args = a.parse_args()
    os.makedirs(args.out, exist_ok=True)
    sums = {}  # of broken kind, then of table: rows, outside, foreign, told
    for name in args.sets.split(","):
        X, y, names = table(name, args.data)
        for s, train, test in splits(name, y, args.splits):
            at = os.path.join(args.out, f"{name}-{s}")
            write(at + ".csv", names, X[train], [f"c{v}" for v in y[train]] if name in CLASSES else y[train])
            run = at + "-run"
            shutil.rmtree(run, ignore_errors=True)
            subprocess.run([args.starling, "fit", at + ".csv", "--target", "target", "--out", run, "--quiet", "--threads", args.threads,
                            *[x for v in args.set for x in ("--set", v)]], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for kind, broken in BROKEN.items():
                write(at + "-in.csv", names, broken(X[test], X[train]))
                done = subprocess.run([args.starling, "predict", run, "--in", at + "-in.csv", "--out", at + "-out.csv", "--quiet", "--threads", args.threads],
                                      check=True, capture_output=True, text=True)
                with open(at + "-out.csv") as f:
                    rows = list(csv.DictReader(f))
                tally = sums.setdefault(kind, {}).setdefault(name, [0, 0, 0, 0])
                tally[0] += len(rows)
                tally[1] += sum_of(rows, lambda r: r["outside"] != "")
                tally[2] += sum_of(rows, lambda r: r.get("foreign") == "1")
                tally[3] += "another" in done.stderr
    sets = args.sets.split(",")
    print(f"{'outside, %':24}", *(f"{n[:8]:>8}" for n in sets), f"{'pooled':>8}")
    for kind, of in sums.items():
        rows = np.array([of[n] for n in sets], float)
        print(f"{kind:24}", *(f"{100 * r[1] / r[0]:8.2f}" for r in rows), f"{100 * rows[:, 1].sum() / rows[:, 0].sum():8.3f}", f" units told in {int(rows[:, 3].sum())} files")
    classes = [n for n in sets if n in CLASSES]
    if classes:
        print(f"{'foreign, %':24}", *(f"{n[:8]:>8}" for n in classes), f"{'pooled':>8}")
        for kind, of in sums.items():
            rows = np.array([of[n] for n in classes], float)
            print(f"{kind:24}", *(f"{100 * r[2] / r[0]:8.2f}" for r in rows), f"{100 * rows[:, 2].sum() / rows[:, 0].sum():8.3f}")


def sum_of(rows, is_so):
    return sum(map(is_so, rows))


if __name__ == "__main__":
    main()
