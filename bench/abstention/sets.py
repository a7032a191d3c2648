#!/usr/bin/env python3
"""Sets of classes beside MAPIE 1.6.0, on the same probabilities (go run ./bench/abstention -npy FOLDER).

    venv/bin/pip install numpy scikit-learn mapie==1.6.0
    venv/bin/python bench/abstention/sets.py FOLDER

LAC that may be empty must have the same sets as MAPIE's. MAPIE draws for APS and RAPS by a stream of its own and counts the last label otherwise, so starling's
are compared with their definition, written here in float64 NumPy with the same numbers u, and MAPIE's mean size stands beside.
"""
import sys
import warnings

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores import APSConformityScore, LACConformityScore, RAPSConformityScore

warnings.filterwarnings("ignore")
folder = sys.argv[1]
probs, labels, u = (np.load(f"{folder}/{n}.npy") for n in ("probs", "labels", "u"))
labels = labels.astype(int)
test = slice(2000, None)


class Known:
    """A classifier whose inputs are the probabilities themselves."""
    classes_ = np.arange(probs.shape[1])

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X.argmax(1)

    def predict_proba(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


def scores(name, p, u):
    """The score of every class of every row, by its definition."""
    if name == "lac":
        return 1 - p
    order = np.argsort(-p, axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(p.shape[1])[None], 1)
    ordered = np.take_along_axis(p, order, 1)
    before = np.take_along_axis(np.cumsum(ordered, 1) - ordered, place, 1)
    s = before + u[:, None] * p
    return s + 0.1 * np.maximum(place + 1 - 2, 0) if name == "raps" else s


print("| sets | calibration examples | rate | sets that differ from the definition | from MAPIE | coverage | size | MAPIE's coverage | size |\n|---|---|---|---|---|---|---|---|---|")
for name, conformity in (("lac", LACConformityScore), ("aps", APSConformityScore), ("raps", RAPSConformityScore)):
    for n in (200, 500, 1000, 2000):
        for rate in (0.9, 0.95, 0.99):
            own = np.load(f"{folder}/{name}-{n}-{rate}.npy") > 0
            s = scores(name, probs[:n], u[:n])[np.arange(n), labels[:n]]
            rank = int(np.ceil((n + 1) * rate - 1e-9))
            defined = scores(name, probs[test], u[test]) <= np.sort(s)[rank - 1]
            m = SplitConformalClassifier(Known(), confidence_level=rate, conformity_score=conformity(), prefit=True, random_state=0)
            m.conformalize(probs[:n], labels[:n])
            try:
                theirs = m.predict_set(probs[test])[1][:, :, 0]
            except ValueError:  # it divides the calibration examples once more for RAPS
                theirs = None
            cover = lambda sets: sets[np.arange(len(sets)), labels[test]].mean()
            beside = "refused | –" if theirs is None else f"{cover(theirs):.4f} | {theirs.sum(1).mean():.3f}"
            differ = (own != theirs).any(1).sum() if name == "lac" else "–"
            print(f"| {name} | {n} | {rate} | {(own != defined).any(1).sum()} of {len(own)} | {differ} | {cover(own):.4f} | {own.sum(1).mean():.3f} | {beside} |")
