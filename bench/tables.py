#!/usr/bin/env python3
"""Compares `starling fit FILE --target COLUMN`, with nothing set by hand, with scikit-learn's models on ten tables.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/python bench/tables.py --data DIR [--sets wine,digits] [--splits 5] [--out runs/tables]

DIR is the folder with the tables that do not come with scikit-learn: winequality-red.csv, pima.csv, concrete.csv, energy.csv,
airfoil.csv and california.csv. Every table is written to --out as CSV files of 75 % training and 25 % test rows, five times, classes
stratified. All programs see the same rows; what starling holds out to validate counts as training rows for the others, which hold out
rows of their own where they calibrate. Results are kept in --out/results.json, one for each table, split and program, so that a run that
was stopped goes on; --again PROGRAM makes those of one program anew.

Every figure is of test rows: mean NLL in nats, for numbers in units of the target; accuracy or RMSE; ECE over 15 bins; the share of
targets within the central 90 % interval; seconds of the whole fit.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = ("wine", "cancer", "digits", "pima")
NUMBERS = ("red", "diabetes", "concrete", "energy", "airfoil", "california")
CHOSEN = ("wine", "digits", "pima", "diabetes", "concrete")  # on these starling's defaults were chosen; the others were looked at once


def table(name, folder):
    """Inputs, targets and the inputs' names."""
    from sklearn import datasets
    own = {"wine": datasets.load_wine, "cancer": datasets.load_breast_cancer, "digits": datasets.load_digits, "diabetes": lambda: datasets.load_diabetes(scaled=False)}
    if name in own:
        d = own[name]()
        return np.asarray(d.data, float), np.asarray(d.target), [n.replace(" ", "_").replace("(", "").replace(")", "") for n in map(str, d.feature_names)]
    file = {"red": "winequality-red.csv"}.get(name, name + ".csv")
    with open(os.path.join(folder, file)) as f:
        head = f.readline().strip()
        cut = ";" if ";" in head else ","
        names = [n.strip('"').replace(" ", "_") for n in head.split(cut)]
        rows = np.loadtxt(f, delimiter=cut)
    return rows[:, :-1], rows[:, -1].astype(int) if name in CLASSES else rows[:, -1], names[:-1]


def splits(name, y, n):
    from sklearn.model_selection import train_test_split
    for s in range(n):
        yield s + 1, *train_test_split(np.arange(len(y)), test_size=0.25, random_state=s + 1, stratify=y if name in CLASSES else None)


# Scores.

def ece(p, y, bins=15):
    confidence, right = p.max(1), p.argmax(1) == y
    where = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(abs(right[where == b].sum() - confidence[where == b].sum()) for b in range(bins)) / len(y)


def calibrated_ece(p, draws=2000):
    """The 95 % quantile of the ECE of a calibrated model with these confidences."""
    rng, confidence = np.random.default_rng(0), p.max(1)
    where = np.minimum((confidence * 15).astype(int), 14)
    gaps = [(rng.random(len(p)) < confidence) - confidence for _ in range(draws)]
    return float(np.quantile([sum(abs(g[where == b].sum()) for b in range(15)) / len(p) for g in gaps], 0.95))


def of_classes(p, y):
    p = np.clip(p, 1e-12, 1)
    p /= p.sum(1, keepdims=True)
    losses = -np.log(p[np.arange(len(y)), y])
    return {"nll": losses.mean(), "score": (p.argmax(1) == y).mean(), "ece": ece(p, y), "ece_calibrated": calibrated_ece(p)}


def of_normal(mean, sd, y):
    losses = 0.5 * np.log(2 * np.pi * sd ** 2) + 0.5 * ((y - mean) / sd) ** 2
    return {"nll": losses.mean(), "score": np.sqrt(((y - mean) ** 2).mean()), "cover": (np.abs(y - mean) < 1.6448536 * sd).mean()}


# scikit-learn's models, with its defaults.

def held(X, y, name):
    """A tenth of the training rows, held out for residuals."""
    from sklearn.model_selection import train_test_split
    return train_test_split(X, y, test_size=0.1, random_state=0)


def linear(name, X, y, Xt):
    from sklearn.linear_model import BayesianRidge, LogisticRegression
    if name in CLASSES:
        return LogisticRegression(max_iter=5000).fit(X, y).predict_proba(Xt)
    return BayesianRidge().fit(X, y).predict(Xt, return_std=True)


def forest(name, X, y, Xt):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    if name in CLASSES:
        return CalibratedClassifierCV(RandomForestClassifier(random_state=0)).fit(X, y).predict_proba(Xt)
    m = RandomForestRegressor(random_state=0, oob_score=True).fit(X, y)
    return m.predict(Xt), np.full(len(Xt), np.sqrt(((y - m.oob_prediction_) ** 2).mean()))


def networks(name, X, y, Xt):
    """Ten networks; for numbers, the noise is that of the held-out residuals of their mean, and their spread is added to it."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    if name in CLASSES:
        return np.mean([MLPClassifier(max_iter=500, random_state=s).fit(X, y).predict_proba(Xt) for s in range(10)], 0)
    m, s = y.mean(), y.std()
    A, B, a, b = held(X, (y - m) / s, name)
    nets = [MLPRegressor(max_iter=1000, random_state=k, early_stopping=True).fit(A, a) for k in range(10)]
    at, out = np.array([n.predict(B) for n in nets]), np.array([n.predict(Xt) for n in nets])
    noise = ((b - at.mean(0)) ** 2).mean()
    return m + s * out.mean(0), s * np.sqrt(noise + out.var(0))


def boosting(name, X, y, Xt):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    if name in CLASSES:
        return CalibratedClassifierCV(HistGradientBoostingClassifier(random_state=0)).fit(X, y).predict_proba(Xt)
    A, B, a, b = held(X, y, name)
    m = HistGradientBoostingRegressor(random_state=0).fit(A, a)
    return m.predict(Xt), np.full(len(Xt), np.sqrt(((b - m.predict(B)) ** 2).mean()))


PEERS = {"linear": linear, "calibrated forest": forest, "ten networks": networks, "hist gradient boosting": boosting}


def peer(program, name, X, y, Xt, yt):
    from sklearn.preprocessing import StandardScaler
    scale = StandardScaler().fit(X)
    began = time.time()
    out = PEERS[program](name, scale.transform(X), y, scale.transform(Xt))
    seconds = time.time() - began
    return {**(of_classes(out, yt) if name in CLASSES else of_normal(*out, yt)), "seconds": seconds}


def starling(binary, folder, name, split, sets):
    """Runs the command as a user does and reads the metrics of the test rows."""
    train, test = (os.path.join(folder, f"{name}-{split}-{part}.csv") for part in ("train", "test"))
    out = os.path.join(folder, f"run-{name}-{split}")
    subprocess.run(["rm", "-rf", out], check=True)
    command = [binary, "fit", train, "--target", "target", "--out", out, "--quiet", "--set", "data.csv.test=" + test]
    for s in sets:
        command += ["--set", s]
    began = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.time() - began
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}{done.stdout}")
    predictions = os.path.join(out, "test-predictions.csv")
    subprocess.run([binary, "predict", out, "--in", test, "--out", predictions, "--force", "--quiet"], check=True, capture_output=True)
    with open(os.path.join(out, "metrics.json")) as f:
        m = json.load(f)
    return m, seconds, predictions


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--data", required=True)
    a.add_argument("--sets", default=",".join(CLASSES + NUMBERS))
    a.add_argument("--splits", type=int, default=5)
    a.add_argument("--out", default="runs/tables")
    a.add_argument("--binary", default="./starling")
    a.add_argument("--programs", default=",".join([*PEERS, "starling"]))
    a.add_argument("--again", default="")
    a.add_argument("--set", action="append", default=[], help="a setting of starling's, to choose defaults with")
    a = a.parse_args()
    os.makedirs(a.out, exist_ok=True)
    kept = os.path.join(a.out, "results.json")
    results = json.load(open(kept)) if os.path.exists(kept) else {}
    for name in a.sets.split(","):
        X, y, names = table(name, a.data)
        for split, train, test in splits(name, y, a.splits):
            for part, rows in (("train", train), ("test", test)):
                np.savetxt(os.path.join(a.out, f"{name}-{split}-{part}.csv"), np.column_stack([X[rows], y[rows]]), fmt="%.10g", delimiter=",",
                           header=",".join(names + ["target"]), comments="")
            for program in a.programs.split(","):
                key = f"{name}/{split}/{program}"
                if key in results and program != a.again:
                    continue
                if program == "starling":
                    results[key] = score(a, name, split, y[test])
                else:
                    results[key] = peer(program, name, X[train], y[train], X[test], y[test])
                results[key] = {k: float(v) for k, v in results[key].items()}
                print(key, {k: round(v, 4) for k, v in results[key].items()}, flush=True)
                with open(kept + ".new", "w") as f:
                    json.dump(results, f, indent=1)
                os.replace(kept + ".new", kept)
    show(results, a.sets.split(","), a.splits)


def score(a, name, split, y):
    m, seconds, predictions = starling(a.binary, a.out, name, split, a.set)
    with open(predictions) as f:
        head = f.readline().strip().split(",")
        rows = [line.split(",") for line in f]
    column = {h: i for i, h in enumerate(head)}
    if name in CLASSES:
        p = np.array([[float(r[i]) for h, i in column.items() if h.startswith("p_")] for r in rows])
        return {**of_classes(p, y), "seconds": seconds}
    e = m["test"]["posterior"] if "test" in m else m
    low, high = (np.array([float(r[column[c]]) for r in rows]) for c in ("q05", "q95"))
    return {"nll": e["nll"], "score": e["rmse"], "cover": ((y > low) & (y < high)).mean(), "seconds": seconds}


def show(results, names, n):
    programs = [p for p in [*PEERS, "starling"] if any(k.endswith("/" + p) for k in results)]
    print("\n| table | " + " | ".join(programs) + " |\n|---|" + "---|" * len(programs))
    for name in names:
        cells = []
        for p in programs:
            r = [results[f"{name}/{s}/{p}"] for s in range(1, n + 1) if f"{name}/{s}/{p}" in results]
            if not r:
                cells.append("–")
                continue
            mean = lambda k: np.mean([x[k] for x in r])
            third = f"{mean('ece'):.3f}" if name in CLASSES else f"{100 * mean('cover'):.0f} %"
            cells.append(f"{mean('nll'):.3f} / " + (f"{100 * mean('score'):.1f} %" if name in CLASSES else f"{mean('score'):.3g}") + f" / {third} / {mean('seconds'):.1f} s")
        print(f"| {name} | " + " | ".join(cells) + " |")
    verdict(results, names, n)


def verdict(results, names, n):
    """Differences of starling's NLL to the best program's and to the linear model's, paired by split, with their standard errors."""
    print("\n| table | best of the others | starling − best | starling − linear | seconds | ECE above chance |\n|---|---|---|---|---|---|")
    for name in names:
        of = lambda p, k: np.array([results[f"{name}/{s}/{p}"][k] for s in range(1, n + 1)])
        if any(f"{name}/{s}/{p}" not in results for p in [*PEERS, "starling"] for s in range(1, n + 1)):
            continue
        best = min(PEERS, key=lambda p: of(p, "nll").mean())

        def beside(p):
            d = of("starling", "nll") - of(p, "nll")
            return f"{d.mean():+.3f} ± {d.std(ddof=1) / np.sqrt(n):.3f}"
        above = f"{(of('starling', 'ece') > of('starling', 'ece_calibrated')).sum()} of {n}" if name in CLASSES else "–"
        print(f"| {name} | {best} | {beside(best)} | {beside('linear')} | {of('starling', 'seconds').mean():.1f} | {above} |")


if __name__ == "__main__":
    main()
