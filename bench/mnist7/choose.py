"""Chooses settings of the methods of bench/mnist7/table.py by the NLL of the 200 validation images of mnist7, never by the test.

    python bench/mnist7/choose.py STARLING OUT [METHOD…]     # with numpy; STARLING_DATA has mnist/

Eighteen trials a method, as SGHMC had, with seed 0 and one restart. Prints a line a trial; the best is chosen.
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


def grid(first, values, second, others):
    return [one + [f"{first}={a}", f"{second}={b}"] for a, b in itertools.product(values, others)]


slow = (5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
trials = {
    "map": grid("map.rate", (0.01, 0.02, 0.03, 0.06, 0.1, 0.2), "map.batch", (16, 32, 64)),
    "swa": grid("method.swa.rate", slow, "method.swa.snapshots", (25, 75, 135)),
    "swag": grid("method.swag.rate", slow, "method.swag.snapshots", (25, 75, 135)),
    "dropout": grid("map.rate", (0.02, 0.03, 0.04, 0.06, 0.08, 0.1), "map.patience", (10, 20, 50)),
}
for method in sys.argv[3:] or trials:
    for i, sets in enumerate(trials[method]):
        run = out / f"{method}-{i}"
        args = [a for s in sets for a in ("--set", s)]
        try:
            subprocess.run([starling, "fit", f"mnist7-{method}", "--seed", "0", "--out", str(run), "--quiet", *args],
                           check=True, capture_output=True)
            text = subprocess.run([starling, "evaluate", str(run), "--data", x, "--labels", y, "--json"], check=True, capture_output=True).stdout
            print(method, " ".join(sets), f"{json.loads(text)['nll']:.4f}", flush=True)
        except subprocess.CalledProcessError as e:  # a rate that diverges
            print(method, " ".join(sets), e.stderr.decode().strip().splitlines()[-1], flush=True)
