"""Every method of mnist7 beside Table 1 of Liang et al. (Scalable Bayesian Monte Carlo): means over five seeds.

    python bench/mnist7/table.py STARLING OUT [ROW…]     # a row that was run is not run again

Prints a line of a table a row: accuracy, NLL, ECE, epistemic entropies, AUROC, gradients in epochs of 1,200 images, and how often
the row's NLL is below that of its own restart.
"""
import json
import pathlib
import statistics as st
import subprocess
import sys

starling, out = sys.argv[1], pathlib.Path(sys.argv[2])
rows = {  # name: (preset, settings)
    "MAP, one restart": ("map", ["map.restarts=1"]),
    "MAP, chosen": ("map", ["map.restarts=1", "map.rate=0.06", "map.batch=32"]),  # choose.py, like the others
    "MAP, best of 8": ("map", []),
    "SWA": ("swa", ["map.restarts=1"]),
    "SWA, chosen": ("swa", ["map.restarts=1", "method.swa.rate=1.6e-2", "method.swa.snapshots=135"]),
    "SWAG": ("swag", ["map.restarts=1", "method.swag.rate=5e-4"]),
    "SWAG, chosen": ("swag", ["map.restarts=1", "method.swag.rate=1.6e-2"]),
    "MultiSWAG, 8 members": ("swag", ["map.restarts=8", "method.swag.members=8", "method.swag.rate=5e-4"]),
    "MultiSWAG, 8 members, chosen": ("swag", ["map.restarts=8", "method.swag.members=8", "method.swag.rate=1.6e-2"]),
    "MC dropout": ("dropout", ["map.restarts=1"]),
    "MC dropout, chosen": ("dropout", ["map.restarts=1", "map.rate=0.08", "map.patience=50"]),
    "deep ensemble of 10": ("ensemble", []),
    "deep ensemble of 10, chosen": ("ensemble", ["map.rate=0.06", "map.batch=32"]),
    "deep ensemble of 80": ("ensemble", ["method.ensemble.members=80"]),
    "SGHMC, from the prior": ("sghmc", ["map=null", "method.mcmc={chains: 10, start: prior, epochs: 160, keep: last, "
                                        "move: {sghmc: {batch: 100, step: 1e-4, friction: 0.1}}}"]),
    "S-SGHMC, P = 1": ("sghmc", ["prior.anchor.s=0.1", "method.mcmc={chains: 10, start: prior, epochs: 160, keep: last, "
                                 "move: {sghmc: {batch: 100, step: 1e-5, friction: 0.1}}}"]),
    "S-SGHMC, P = 8": ("sghmc", ["prior.anchor.s=0.1", "method.mcmc={chains: 80, start: prior, epochs: 160, keep: last, "
                                 "move: {sghmc: {batch: 100, step: 1e-5, friction: 0.1}}}"]),
    "SGHMC, 8 chains from restarts": ("sghmc", []),
}


def mean(values, digits):
    values = list(values)
    if None in values:
        return "–"
    return f"{st.mean(values):.{digits}f} ± {st.stdev(values) / len(values) ** 0.5:.{digits}f}"


for name in sys.argv[3:] or rows:
    preset, sets = rows[name]
    runs = []
    for seed in range(1, 6):
        run = out / "".join(c if c.isalnum() else "-" for c in f"{name}-{seed}")
        if not (run / "metrics.json").exists():
            args = [a for s in sets for a in ("--set", s)]
            subprocess.run([starling, "fit", f"mnist7-{preset}", "--seed", str(seed), "--out", str(run), "--quiet", *args],
                           check=True, stdout=subprocess.DEVNULL)
        runs.append(json.loads((run / "metrics.json").read_text()))
    entropy = lambda g: mean((r["groups"].get(g, {}).get("entropy_epistemic") for r in runs), 3)
    auroc = lambda g: mean((r["groups"].get(g, {}).get("auroc_max_probability" if r["ess"] <= 1 else "auroc") for r in runs), 3)
    cost = {p["name"] for r in runs for p in r["cost"]["phases"]}
    print("|", name, "|", mean((100 * r["accuracy"] for r in runs), 2), "|", mean((r["nll"] for r in runs), 4), "|",
          mean((r["ece"] for r in runs), 3), "|",
          " / ".join(entropy(g) for g in ("correct", "incorrect", "eight", "nine", "noise", "perturbed")), "|",
          " / ".join(auroc(g) for g in ("eight", "nine", "noise", "perturbed", "incorrect")), "|",
          f"{st.mean(r['cost']['gradients'] for r in runs) / 1200:,.0f}", "|",
          f"{sum(r['nll'] < r['map']['nll'] for r in runs)} of 5" if all("map" in r for r in runs) else "–", "|",
          mean((r["map"]["accuracy"] * 100 for r in runs), 2) if all("map" in r for r in runs) else "–", "|",
          mean((r["map"]["nll"] for r in runs), 4) if all("map" in r for r in runs) else "–", "|", flush=True)
