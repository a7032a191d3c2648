#!/usr/bin/env python3
"""Compares `starling fit FILE --target COLUMN`, with nothing set by hand, with scikit-learn's models on twenty-two tables.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/pip install statsmodels palmerpenguins setuptools    # for the tables of packaged.py
    venv/bin/python bench/tables.py [--data DIR] [--sets wine,digits] [--splits 5] [--out runs/tables]

DIR is the folder with the tables that do not come with a package: winequality-red.csv, pima.csv, concrete.csv, energy.csv, airfoil.csv and
california.csv. Every table is divided five times into 75 % and 25 % test rows, of the 75 % a tenth validates, classes stratified: three CSV
files in --out. All programs learn from the same training rows. The validation rows stop starling's restarts, choose its noise and
set its threshold; of the others, those that need residuals of rows that they did not learn from take them. Words are categories of 0
and 1 for the others, and a missing value is the mean of the training rows with a column that says so, as for starling. "own restarts" is
the deep ensemble of the MAP restarts that starling's chains begin at, of the same run. Results are kept in --out/results.json, one for each
table, split and program, so that a run that was stopped goes on; --again PROGRAM makes those of one program anew.

Every figure is of test rows: mean NLL in nats, for numbers in units of the target; accuracy or RMSE; ECE over 15 bins; the share of
targets within the central 90 % interval; seconds of the whole fit.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np

import packaged

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = ("wine", "cancer", "digits", "pima", *packaged.CLASSES)
NUMBERS = ("red", "diabetes", "concrete", "energy", "airfoil", "california", *packaged.NUMBERS)
CHOSEN = ("wine", "digits", "pima", "diabetes", "concrete", *packaged.OPEN)  # on these starling's defaults were chosen; the others were looked at once
PARTS = ("train", "validate", "test")


def table(name, folder):
    """Rows of inputs as text, the inputs' names, and the text of the targets."""
    if name in packaged.TABLES:
        return packaged.cells(name)
    X, y, names = plain(name, folder)
    return [[f"{v:.10g}" for v in row] for row in X], names, [f"{v:.10g}" for v in y]


def plain(name, folder):
    """Inputs, targets and the inputs' names of a table that has numbers alone."""
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
    """The rows of the parts, n times."""
    from sklearn.model_selection import train_test_split
    stratify = lambda rows: np.array(y)[rows] if name in CLASSES else None
    for s in range(n):
        rest, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=s + 1, stratify=stratify(np.arange(len(y))))
        train, validate = train_test_split(rest, test_size=0.1, random_state=s + 1, stratify=stratify(rest))
        yield s + 1, dict(zip(PARTS, (train, validate, test)))


def encode(rows, train):
    """Columns of numbers from text: words are categories of 0 and 1, those of training rows alone; in place of a missing number stands the
    mean of the training rows, with a column that says so."""
    columns = []
    for cells in zip(*rows):
        there = [cells[i] for i in train if cells[i]]
        try:
            numbers = np.array([float(c) if c else np.nan for c in cells])
        except ValueError:
            columns += [[c == word for c in cells] for word in sorted(set(there))]
            continue
        missing = np.isnan(numbers)
        if missing.any():
            numbers[missing] = np.nanmean(numbers[train])
            columns.append(missing)
        columns.append(numbers)
    return np.array(columns, float).T


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

# Each learns from inputs X and targets y, may take the validation rows V and v for residuals, and answers for the inputs Xt.

def linear(name, X, y, V, v, Xt):
    from sklearn.linear_model import BayesianRidge, LogisticRegression
    if name in CLASSES:
        return LogisticRegression(max_iter=5000).fit(X, y).predict_proba(Xt)
    return BayesianRidge().fit(X, y).predict(Xt, return_std=True)


def forest(name, X, y, V, v, Xt):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    if name in CLASSES:
        return CalibratedClassifierCV(RandomForestClassifier(random_state=0)).fit(X, y).predict_proba(Xt)
    m = RandomForestRegressor(random_state=0, oob_score=True).fit(X, y)
    return m.predict(Xt), np.full(len(Xt), np.sqrt(((y - m.oob_prediction_) ** 2).mean()))


def networks(name, X, y, V, v, Xt):
    """Ten networks; for numbers, the noise is that of the held-out residuals of their mean, and their spread is added to it."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    if name in CLASSES:
        return np.mean([MLPClassifier(max_iter=500, random_state=s).fit(X, y).predict_proba(Xt) for s in range(10)], 0)
    m, s = y.mean(), y.std()
    nets = [MLPRegressor(max_iter=1000, random_state=k, early_stopping=True).fit(X, (y - m) / s) for k in range(10)]
    at, out = np.array([n.predict(V) for n in nets]), np.array([n.predict(Xt) for n in nets])
    noise = (((v - m) / s - at.mean(0)) ** 2).mean()
    return m + s * out.mean(0), s * np.sqrt(noise + out.var(0))


def boosting(name, X, y, V, v, Xt):
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    if name in CLASSES:
        return CalibratedClassifierCV(HistGradientBoostingClassifier(random_state=0)).fit(X, y).predict_proba(Xt)
    m = HistGradientBoostingRegressor(random_state=0).fit(X, y)
    return m.predict(Xt), np.full(len(Xt), np.sqrt(((v - m.predict(V)) ** 2).mean()))


OWN = "own restarts"
PEERS = {"linear": linear, "calibrated forest": forest, "ten networks": networks, "hist gradient boosting": boosting}


def peer(program, name, X, y, parts):
    from sklearn.preprocessing import StandardScaler
    X = StandardScaler().fit(X[parts["train"]]).transform(X)
    train, validate, test = (parts[p] for p in PARTS)
    began = time.time()
    out = PEERS[program](name, X[train], y[train], X[validate], y[validate], X[test])
    seconds = time.time() - began
    return {**(of_classes(out, y[test]) if name in CLASSES else of_normal(*out, y[test])), "seconds": seconds}


def starling(binary, folder, name, split, sets):
    """Runs the command as a user does and reads the metrics of the test rows."""
    train, validate, test = (os.path.join(folder, f"{name}-{split}-{part}.csv") for part in PARTS)
    out = os.path.join(folder, f"run-{name}-{split}")
    subprocess.run(["rm", "-rf", out], check=True)
    command = [binary, "fit", train, "--target", "target", "--out", out, "--quiet", "--set", "data.csv.validate=" + validate, "--set", "data.csv.test=" + test]
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
    a.add_argument("--data", default=".")
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
        rows, names, targets = table(name, a.data)
        classes = sorted(set(targets), key=lambda c: (len(c), c)) if name in CLASSES else None  # numbers in their order
        y = np.array([classes.index(c) for c in targets]) if classes else np.array(targets, float)
        for split, parts in splits(name, targets, a.splits):
            X = encode(rows, parts["train"])
            for part in PARTS:
                with open(os.path.join(a.out, f"{name}-{split}-{part}.csv"), "w", newline="") as f:
                    csv.writer(f).writerows([names + ["target"], *([*rows[i], targets[i]] for i in parts[part])])
            for program in a.programs.split(","):
                key = f"{name}/{split}/{program}"
                if key in results and program != a.again:
                    continue
                made = {key: peer(program, name, X, y, parts)} if program != "starling" else score(a, name, split, y[parts["test"]], classes, key)
                for k, scores in made.items():
                    results[k] = {s: float(v) for s, v in scores.items()}
                    print(k, {s: round(v, 4) for s, v in results[k].items()}, flush=True)
                with open(kept + ".new", "w") as f:
                    json.dump(results, f, indent=1)
                os.replace(kept + ".new", kept)
    show(results, a.sets.split(","), a.splits)


def score(a, name, split, y, classes, key):
    """starling's own scores, and those of its restarts."""
    m, seconds, predictions = starling(a.binary, a.out, name, split, a.set)
    with open(predictions, newline="") as f:
        rows = list(csv.DictReader(f))
    restarts, own = m["deep_ensemble"], {"seconds": seconds}
    if name in CLASSES:
        p = np.array([[float(r["p_" + c]) for c in classes] for r in rows])
        return {key: {**of_classes(p, y), **own}, key.replace("starling", OWN): {"nll": restarts["nll"], "score": restarts["accuracy"], "ece": restarts["ece"], **own}}
    low, high = (np.array([float(r[c]) for r in rows]) for c in ("q05", "q95"))
    return {key: {"nll": m["nll"], "score": m["rmse"], "cover": ((y > low) & (y < high)).mean(), **own},
            key.replace("starling", OWN): {"nll": restarts["nll"], "score": restarts["rmse"], "cover": restarts["coverage"]["90"], **own}}


def show(results, names, n):
    programs = [p for p in [*PEERS, OWN, "starling"] if any(k.endswith("/" + p) for k in results)]
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
    """Differences of starling's NLL to the best program's, to the linear model's and to its own restarts', paired by split, with their
    standard errors."""
    print("\n| table | best of the others | starling − best | starling − linear | starling − own restarts | seconds | ECE above chance |\n|---|---|---|---|---|---|---|")
    for name in names:
        of = lambda p, k: np.array([results[f"{name}/{s}/{p}"][k] for s in range(1, n + 1)])
        if any(f"{name}/{s}/{p}" not in results for p in [*PEERS, "starling"] for s in range(1, n + 1)):
            continue
        best = min(PEERS, key=lambda p: of(p, "nll").mean())

        def beside(p):
            d = of("starling", "nll") - of(p, "nll")
            return f"{d.mean():+.3f} ± " + (f"{d.std(ddof=1) / np.sqrt(n):.3f}" if n > 1 else "?")
        above = f"{(of('starling', 'ece') > of('starling', 'ece_calibrated')).sum()} of {n}" if name in CLASSES else "–"
        print(f"| {name} | {best} | {beside(best)} | {beside('linear')} | {beside(OWN)} | {of('starling', 'seconds').mean():.1f} | {above} |")


if __name__ == "__main__":
    main()
