"""Chooses settings of the methods of bench/mnist7/table.py by the NLL of the 200 validation images of mnist7, never by the test.

    python bench/mnist7/choose.py STARLING OUT [METHOD…]     # with numpy; STARLING_DATA has mnist/

Six trials a method, seeds 1 and 2 each, from one restart. Prints a line a trial; the first of the best is chosen.
"""
import gzip
import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

starling, out = sys.argv[1], pathlib.Path(sys.argv[2])
out.mkdir(parents=True, exist_ok=True)


def mnist(name, skip):
    return np.frombuffer(gzip.open(f"{os.environ['STARLING_DATA']}/mnist/train-{name}-ubyte.gz").read()[skip:], np.uint8)


labels = mnist("labels-idx1", 8)
validation = np.flatnonzero(labels < 8)[1200:1400]
x, y = str(out / "x.npy"), str(out / "y.npy")
np.save(x, mnist("images-idx3", 16).reshape(-1, 1, 28, 28)[validation])
np.save(y, labels[validation].astype(np.int32))
one = ["map.restarts=1"]
trials = {
    "map": [one + [f"map.rate={r}", f"map.batch={b}"] for r, b in itertools.product((0.01, 0.03, 0.1), (32, 64))],
    "swa": [one + [f"method.swa.rate={r}", f"method.swa.snapshots={n}"] for r, n in itertools.product((5e-4, 2e-3, 8e-3), (75, 135))],
    "swag": [one + [f"method.swag.rate={r}", f"method.swag.snapshots={n}"] for r, n in itertools.product((5e-4, 2e-3, 8e-3), (75, 135))],
    "dropout": [one + [f"map.rate={r}", f"map.patience={p}"] for r, p in itertools.product((0.03, 0.06, 0.1), (20, 50))],
}
for method in sys.argv[3:] or trials:
    for i, sets in enumerate(trials[method]):
        nll = []
        for seed in (1, 2):
            run = out / f"{method}-{i}-{seed}"
            args = [a for s in sets for a in ("--set", s)]
            subprocess.run([starling, "fit", f"mnist7-{method}", "--seed", str(seed), "--out", str(run), "--quiet", *args],
                           check=True, stdout=subprocess.DEVNULL)
            text = subprocess.run([starling, "evaluate", str(run), "--data", x, "--labels", y, "--json"], check=True, capture_output=True).stdout
            nll.append(json.loads(text)["nll"])
        print(method, " ".join(sets), "validation NLL", " ".join(f"{v:.4f}" for v in nll), "mean", f"{sum(nll) / 2:.4f}", flush=True)
