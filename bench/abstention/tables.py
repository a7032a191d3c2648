#!/usr/bin/env python3
"""Temperatures on the first ten tables of bench/tables.py, and conformal intervals beside MAPIE's on three of them.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt mapie==1.6.0 lightgbm==4.7.0 statsmodels palmerpenguins setuptools
    venv/bin/python bench/abstention/tables.py --data FOLDER [--binary ./starling] [--out runs/abstention-tables] [--splits 5] [--part temperature|intervals]

temperature: starling fit FILE --target COLUMN --set 'decide={temperature: true}' on the divisions of bench/tables.py; NLL and ECE of the test rows, tempered
and not. intervals: of the training rows of a division, 20 % of all rows calibrate. starling's intervals of 50, 90 and 95 % and those of MAPIE's
ConformalizedQuantileRegressor of LightGBM's quantile regressions learn from the same rows: starling's validation rows train the latter. Results are kept in
--out, so that a run that was stopped goes on.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import warnings

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tables  # noqa: E402

warnings.filterwarnings("ignore")
TEMPERED = ("wine", "cancer", "digits", "pima", "red", "diabetes", "concrete", "energy", "airfoil", "california")
INTERVALS = ("concrete", "airfoil", "california")
RATES = (0.5, 0.9, 0.95)


def fit(binary, out, files, sets):
    """The metrics of a fit with nothing set but the files of the parts and what is learnt for decisions."""
    if not os.path.exists(os.path.join(out, "metrics.json")):
        command = [binary, "fit", files["train"], "--target", "target", "--out", out, "--quiet", "--resume"]
        for s in [f"data.csv.{part}={file}" for part, file in files.items() if part != "train"] + sets:
            command += ["--set", s]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr}{done.stdout}")
    with open(os.path.join(out, "metrics.json")) as f:
        return json.load(f)


def write(file, names, rows, targets, which):
    with open(file, "w", newline="") as f:
        csv.writer(f).writerows([names + ["target"], *([*rows[i], targets[i]] for i in which)])
    return file


def tempered(a, name, split, rows, names, targets, parts):
    files = {p: write(os.path.join(a.out, f"{name}-{split}-{p}.csv"), names, rows, targets, parts[p]) for p in tables.PARTS}
    m = fit(a.binary, os.path.join(a.out, f"t-{name}-{split}"), files, ["decide={temperature: true}"])
    t = m["tempered"]
    return {"t": t.get("temperature", t.get("factor")), "nll": m["nll"], "tempered": t["nll"], "ece": m.get("ece"), "tempered_ece": t.get("ece"), "crps": m.get("crps"), "tempered_crps": t.get("crps")}


def quantiles(binary, run, files):
    """The ends of the intervals of each rate before they are conformalised, of the rows of some files."""
    levels = {r: ((1 - r) / 2, (1 + r) / 2) for r in RATES}
    out = os.path.join(run, "quantiles.csv")
    rows = []
    for file in files:
        subprocess.run([binary, "predict", run, "--in", file, "--out", out, "--force", "--quiet", "--quantiles", ",".join(f"{q:.6g}" for pair in levels.values() for q in pair)],
                       check=True, capture_output=True)
        with open(out, newline="") as f:
            rows += list(csv.DictReader(f))
    column = lambda q: "q" + (f"{100 * q:.4f}".rstrip("0").rstrip(".") if q >= 0.1 else "0" + f"{100 * q:.4f}".rstrip("0").rstrip("."))
    return {r: [np.array([float(row[column(q)]) for row in rows]) for q in pair] for r, pair in levels.items()}


def divided(law, y, n, rate, divisions=200):
    """Mean coverage, width and interval score over divisions of the rows into n to calibrate and the rest to test."""
    low, high = law
    score, rank, results = np.maximum(low - y, y - high), int(np.ceil((n + 1) * rate - 1e-9)), []
    for d in range(divisions):
        order = np.random.default_rng(d).permutation(len(y))
        q, test = np.sort(score[order[:n]])[rank - 1], order[n:]
        l, h = low[test] - q, high[test] + q
        results.append([((l <= y[test]) & (y[test] <= h)).mean(), (h - l).mean(), interval_score(l, h, y[test], rate)])
    return np.mean(results, 0).tolist()


def interval_score(low, high, y, rate):
    return float(np.mean(high - low + 2 / (1 - rate) * np.maximum(0, np.maximum(low - y, y - high))))


def intervals(a, name, split, rows, names, targets, parts):
    y = np.array(targets, float)
    order = np.random.default_rng(split).permutation(parts["train"])
    n = len(y) // 5
    parts = {**parts, "calibrate": order[:n], "train": order[n:]}
    files = {p: write(os.path.join(a.out, f"i-{name}-{split}-{p}.csv"), names, rows, targets, parts[p]) for p in ("train", "validate", "calibrate", "test")}
    m = fit(a.binary, os.path.join(a.out, f"i-{name}-{split}"), files, ["decide={temperature: true, sets: {rate: 0.9}}"])
    found = {s["rate"]: s for s in m["sets"]["others"]}
    result = {f"starling {r}": [found[r]["coverage"], found[r]["width"], found[r]["interval_score"]] for r in RATES}
    both = np.concatenate([parts["calibrate"], parts["test"]])
    laws = quantiles(a.binary, os.path.join(a.out, f"i-{name}-{split}"), [files["calibrate"], files["test"]])
    for r in RATES:
        result[f"divided {r}"] = divided(laws[r], y[both], len(parts["calibrate"]), r)

    from lightgbm import LGBMRegressor
    from mapie.regression import ConformalizedQuantileRegressor
    X = tables.encode(rows, parts["train"])
    fits = np.concatenate([parts["train"], parts["validate"]])
    for r in RATES:
        q = ConformalizedQuantileRegressor(LGBMRegressor(objective="quantile", alpha=0.5, verbose=-1, random_state=0), confidence_level=r)
        q.fit(X[fits], y[fits]).conformalize(X[parts["calibrate"]], y[parts["calibrate"]])
        _, interval = q.predict_interval(X[parts["test"]])
        low, high, t = interval[:, 0, 0], interval[:, 1, 0], y[parts["test"]]
        result[f"MAPIE {r}"] = [float(((low <= t) & (t <= high)).mean()), float((high - low).mean()), interval_score(low, high, t, r)]
    return result


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default=".")
    p.add_argument("--binary", default="./starling")
    p.add_argument("--out", default="runs/abstention-tables")
    p.add_argument("--splits", type=int, default=5)
    p.add_argument("--part", default="temperature,intervals")
    p.add_argument("--sets", default="")
    a = p.parse_args()
    os.makedirs(a.out, exist_ok=True)
    kept = os.path.join(a.out, "results.json")
    results = json.load(open(kept)) if os.path.exists(kept) else {}
    for part, names, cell in (("temperature", TEMPERED, tempered), ("intervals", INTERVALS, intervals)):
        if part not in a.part:
            continue
        for name in a.sets.split(",") if a.sets else names:
            rows, columns, targets = tables.table(name, a.data)
            for split, parts in tables.splits(name, targets, a.splits):
                key = f"{part}/{name}/{split}"
                if key not in results:
                    results[key] = cell(a, name, split, rows, columns, targets, parts)
                    print(key, results[key], flush=True)
                    with open(kept + ".new", "w") as f:
                        json.dump(results, f, indent=1)
                    os.replace(kept + ".new", kept)
    show(results)


def show(results):
    of = lambda part, name: [v for k, v in results.items() if k.startswith(f"{part}/{name}/")]
    mean = lambda rows, k: np.mean([r[k] for r in rows])
    print("\n| table | T or factor | NLL | tempered | ECE or CRPS | tempered |\n|---|---|---|---|---|---|")
    for name in TEMPERED:
        if rows := of("temperature", name):
            k = "ece" if rows[0]["ece"] is not None else "crps"
            print(f"| {name} | {mean(rows, 't'):.3f} | {mean(rows, 'nll'):.4f} | {mean(rows, 'tempered'):.4f} | {mean(rows, k):.4f} | {mean(rows, 'tempered_' + k):.4f} |")
    print("\n| table | promise | starling: coverage / width / interval score | the same over 200 divisions | MAPIE |\n|---|---|---|---|---|")
    for name in INTERVALS:
        if rows := of("intervals", name):
            for r in RATES:
                cells = [" / ".join(f"{v:.4g}" for v in np.mean([x[f"{who} {r}"] for x in rows], 0)) for who in ("starling", "divided", "MAPIE")]
                print(f"| {name} | {r} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
