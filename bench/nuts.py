#!/usr/bin/env python3
"""Compares the chains of starling's NUTS with those of BlackJAX, on Pima's logistic regression (9 parameters).

    STARLING_DATA=dir venv/bin/python bench/nuts.py [--rounds 3] [--draws 1000] [--threads 2]

Both run four chains from draws of the prior and learn step size and scales by themselves: BlackJAX in 1,000 moves before its
draws, starling in the first half of its evaluations, so many that the other half suffices for about as many draws. They take turns
in rounds of one run each, with other seeds. Printed are, for each run, the bulk effective sample size (Vehtari et al. 2021) of the
slowest coordinate for each gradient after the warm-up, and for each gradient in all, computed by the same code from the draws of
all moves; and the seconds of whole processes: starling's has reading, evaluation, files and page, BlackJAX's imports and compiles.
BlackJAX's warm runs are further runs in a process.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from safetensors.numpy import load_file
from scipy.stats import norm, rankdata

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CHAINS = 4


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


ROUNDS, DRAWS, THREADS = int(option("--rounds", "3")), int(option("--draws", "1000")), int(option("--threads", "2"))
EPOCHS = 14 * DRAWS  # a move takes about seven gradients


def bulk_ess(x):
    """Of chains × draws: split, ranks as normal scores, autocorrelation by Geyer's initial monotone sequence."""
    half = x.shape[1] // 2
    x = np.concatenate([x[:, :half], x[:, -half:]])
    z = norm.ppf((rankdata(x).reshape(x.shape) - 0.375) / (x.size + 0.25))
    n = z.shape[1]
    f = np.fft.rfft(z - z.mean(1, keepdims=True), 2 * n)
    covariance = np.fft.irfft(f * f.conj(), 2 * n)[:, :n] / (n - 1)
    within = covariance[:, 0].mean()
    variance = within * (n - 1) / n + z.mean(1).var(ddof=1)
    rho = 1 - (within - covariance.mean(0)) / variance
    rho[0] = 1
    pairs = rho[0:n - 1:2] + rho[1:n:2]
    positive = pairs[:np.argmax(pairs < 0)] if (pairs < 0).any() else pairs
    return z.size / max(2 * np.minimum.accumulate(positive).sum() - 1, 1 / np.log10(z.size))


def slowest(draws):
    return min(bulk_ess(draws[:, :, i]) for i in range(draws.shape[2]))


def run(command):
    cpus = ",".join(str(c) for c in range(THREADS))
    env = {**os.environ, "PEER_THREADS": str(THREADS), "GOMAXPROCS": str(THREADS)}
    start = time.perf_counter()
    out = subprocess.run(["taskset", "-c", cpus, *command], env=env, check=True, capture_output=True, text=True).stdout
    return out, time.perf_counter() - start


def ours(starling, seed):
    """Effective sample size, gradients after the warm-up, gradients in all, seconds, draws, and draws themselves."""
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "run")
        method = f"method={{mcmc: {{chains: {CHAINS}, start: prior, epochs: {EPOCHS}, keep: {CHAINS * EPOCHS // 2}, trace: {{every: 1}}, move: {{nuts: {{}}}}}}}}"
        _, seconds = run([starling, "fit", "pima", "--seed", str(seed), "--data-dir", os.environ["STARLING_DATA"], "--out", out, "--set", method])
        kept = load_file(os.path.join(out, "posterior.safetensors"))
        with open(os.path.join(out, "trace.jsonl")) as f:
            trace = [json.loads(line) for line in f]
    late, chains = 0, []
    for c in range(CHAINS):
        lines = [line for line in trace if line["island"] == c]
        chains.append(kept["0.weight"][kept["island"] == c].reshape(-1, 9).astype(float))
        late += lines[-1]["epochs"] - lines[-1 - len(chains[-1])]["epochs"]  # every state of the second half is kept
    length = min(len(chain) for chain in chains)
    return slowest(np.stack([chain[-length:] for chain in chains])), late, CHAINS * EPOCHS, seconds, np.concatenate(chains)


def theirs(seed):
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "draws.npz")
        script = os.path.join(HERE, "peers", "pima_nuts_blackjax.py")
        text, seconds = run([sys.executable, script, "--seed", str(seed), "--draws", str(DRAWS), "--repeats", "0", "--out", out])
        r = np.load(out)
        draws, late, warm = r["draws"][0], int(r["gradients"][0]), int(r["warmup_gradients"][0])
    return slowest(draws), late, late + warm, seconds, draws.reshape(-1, 9)


def main():
    if "STARLING_DATA" not in os.environ:
        sys.exit("set STARLING_DATA to the folder that has uci/")
    with tempfile.TemporaryDirectory() as d:
        starling = os.path.join(d, "starling")
        subprocess.run(["go", "build", "-o", starling, "./cmd/starling"], cwd=ROOT, check=True)
        rows = {"starling": [], "BlackJAX": []}
        print(f"load before: {os.getloadavg()}")
        for seed in range(1, ROUNDS + 1):
            for name, one in ("starling", lambda: ours(starling, seed)), ("BlackJAX", lambda: theirs(seed)):
                rows[name].append(one())
                ess, late, every, seconds, draws = rows[name][-1]
                print(f"{name:9} seed {seed}: {len(draws)} draws, slowest coordinate ESS {ess:.0f}, {ess / late:.4f} a gradient after the "
                      f"warm-up, {ess / every:.4f} a gradient in all; whole process {seconds:.2f} s", flush=True)
    means = {name: np.concatenate([r[4] for r in v]) for name, v in rows.items()}
    apart = np.abs(means["starling"].mean(0) - means["BlackJAX"].mean(0)) / means["BlackJAX"].std(0)
    if not apart.max() < 0.1:
        sys.exit(f"the posterior means are {apart.max()} standard deviations apart")
    for what, at in ("after the warm-up", 1), ("in all", 2):
        a, b = (statistics.median(r[0] / r[at] for r in rows[name]) for name in ("starling", "BlackJAX"))
        print(f"ESS a gradient {what}: starling {a:.4f}, BlackJAX {b:.4f}, ratio {a / b:.2f}")
    a, b = (statistics.median(r[3] for r in rows[name]) for name in ("starling", "BlackJAX"))
    warm = json.loads(run([sys.executable, os.path.join(HERE, "peers", "pima_nuts_blackjax.py"), "--draws", str(DRAWS), "--repeats", "3"])[0])
    print(f"seconds: starling {a:.2f} (whole process), BlackJAX {b:.2f} (whole process, cold), {warm['wall_median_s']:.2f} (warm)")
    print(f"load after: {os.getloadavg()}")


main()
