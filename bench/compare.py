#!/usr/bin/env python3
"""Times starling and its peers on the same work, in turn, and prints the ratios.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    go build -o starling ./cmd/starling
    STARLING_DATA=dir venv/bin/python bench/compare.py [--rounds 5] [--threads 1,2] [--only lenet5,annealing,mnist7,pima]

A round runs every program once, each pinned to as many CPUs as it has threads; the rounds follow each other, so that
a change of the machine's speed meets all programs. Printed are minimum and median over all repeats of all rounds, the
ratio of the medians to starling's, and the load of the machine. Rates: image-particles a second for networks, whole
iterations of data annealing over all of MNIST in image-gradients a second (JAX: over 2,000 images, it is linear in
them), seconds of one run for Pima. Networks have maximum pooling on all sides. The peers' check values must agree with
each other; that our gradients are those of such networks is what the reference values in nn/testdata show.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STARLING = os.path.join(HERE, "..", "starling")


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


ROUNDS = int(option("--rounds", "5"))
THREADS = [int(t) for t in option("--threads", "1,2").split(",")]
ONLY = option("--only", "lenet5,annealing,mnist7,pima").split(",")
# Without these glibc hands PyTorch's large activations back to the system after every pass, which costs it a lot.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "268435456"}

PEERS = {
    "lenet5": [("PyTorch", "lenet_torch.py --n 1000 --chunk 500 --mode loop --repeats 3"),
               ("JAX", "lenet_jax.py --n 1000 --chunk 500 --mode loop_im2col_py --repeats 3")],
    "annealing": [("JAX", "annealing_jax.py --n 2000 --repeats 3")],
    "mnist7": [("PyTorch", "mnist7.py --mode torch --repeats 3"), ("JAX", "mnist7.py --mode jax --conv im2col --repeats 3"),
               ("BlackJAX", "mnist7.py --mode blackjax --conv im2col --stages 3 --mcmc 1")],
    "pima": [("BlackJAX", "pima_blackjax.py --repeats 3")],
}
RATE = {"lenet5": "images_particles_per_s", "annealing": "images_particles_grads_per_s", "mnist7": "image_particle_grads_per_s", "pima": None}
UNIT = {"lenet5": "image-particles/s", "annealing": "image-gradients/s", "mnist7": "image-particles/s", "pima": "s"}


def run(command, threads, **env):
    cpus = ",".join(str(c) for c in range(threads))
    env = {**os.environ, "PEER_THREADS": str(threads), "GOMAXPROCS": str(threads), **env}
    out = subprocess.run(["taskset", "-c", cpus, *command], env=env, check=True, capture_output=True, text=True)
    text = out.stdout.strip()
    return json.loads(text if text.startswith("{\n") else text.splitlines()[-1])


def ours(work, threads):
    """Rates, or seconds of whole runs (start of the program, reading and evaluation included), of one round."""
    if work == "pima":
        times = []
        for seed in range(1, 4):
            with tempfile.TemporaryDirectory() as d:
                start = time.perf_counter()
                run([STARLING, "fit", "pima", "--seed", str(seed), "--out", os.path.join(d, "run"), "--json"], threads)
                times.append(time.perf_counter() - start)
        return times
    if work == "annealing":  # the iterations after the first, which also reads the data and has a gradient to begin with
        with tempfile.TemporaryDirectory() as d:
            config = os.path.join(d, "annealing.yaml")
            preset = subprocess.run([STARLING, "presets", "mnist-lenet5-full"], check=True, capture_output=True, text=True).stdout
            with open(config, "w") as f:
                f.write(preset.replace("avgpool: 2", "maxpool: 2").replace("iterations: 200", "iterations: 3"))
            run([STARLING, "fit", config, "--data-dir", os.environ["STARLING_DATA"], "--out", os.path.join(d, "run"), "--json"], threads)
            with open(os.path.join(d, "run", "trace.jsonl")) as f:
                trace = [json.loads(line) for line in f]
            return [(b["gradients"] - a["gradients"]) / (b["seconds"] - a["seconds"]) for a, b in zip(trace, trace[1:])]
    b = run([STARLING, "bench", "--only", work, "--repeats", "3", "--json"], threads)["threads"][str(threads)]["nets"][work]["full"]
    return [b["images"] * 10 / b["median_s"]]


def main():
    print(f"load before: {os.getloadavg()}")
    for work in ONLY:
        for threads in THREADS:
            got = {name: [] for name in ["starling"] + [p for p, _ in PEERS[work]]}
            checks = set()  # the first particle's log-likelihood, the same for all peers to four digits
            for _ in range(ROUNDS):
                got["starling"] += ours(work, threads)
                for name, script in PEERS[work]:
                    args = script.split()
                    r = run([sys.executable, os.path.join(HERE, "peers", args[0]), *args[1:]], threads, **MALLOC)
                    checks |= {f"{r[k]:.4g}" for k in ("loss0", "value0") if k in r}
                    if RATE[work]:
                        got[name].append(r[RATE[work]] * r["wall_min_s"] / r["wall_median_s"])
                    else:
                        got[name].append(r["wall_median_s"])
            if len(checks) > 1:
                sys.exit(f"{work}: the peers do not compute the same: {checks}")
            base = statistics.median(got["starling"])
            for name, v in got.items():
                m = statistics.median(v)
                ratio = base / m if RATE[work] else m / base
                best = max(v) if RATE[work] else min(v)
                print(f"{work:9} {threads} thread(s) {name:9} median {m:11.4g} best {best:11.4g} {UNIT[work]}; starling is {ratio:.2f} × as fast", flush=True)
    print(f"load after: {os.getloadavg()}")


main()
