#!/usr/bin/env python3
"""Times starling and its peers on the same work, in turn, and prints the ratios.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    STARLING_DATA=dir venv/bin/python bench/compare.py [--rounds 5] [--threads 1,2] [--only lenet5,annealing,mnist7,mnist7-smc,resnet20,head,head100,pima]

It builds starling from the tree that it lies in. A round runs every program once, each pinned to as many CPUs as it has
threads; the rounds follow each other, so that a change of the machine's speed meets all programs. Printed are minimum and
median over all repeats of all rounds, the ratio of the medians to starling's, and the load of the machine.

    lenet5, mnist7  log-likelihoods and gradients alone, of 10 particles: image-gradients a second
    annealing       whole iterations of data annealing, LeNet-5 over all of MNIST (JAX: over 2,000 images, it is linear in them)
    mnist7-smc      whole stages of tempered SMC: 10 particles, 10 moves of one leapfrog. A rate counts the gradients that
                    were computed: starling's also tries step sizes, BlackJAX has no gradient at the new temperature
    resnet20        log-likelihood and gradient of one ResNet-20 with filter response normalisation, 256 images of noise;
                    starling's rate is that of its benchmark (go test -bench, package nn)
    pima            seconds of one run

Networks have maximum pooling on all sides. All must compute the same: the log-likelihood of the first particle over the
same images, starling's own included, or the log-evidence of Pima.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


ROUNDS = int(option("--rounds", "5"))
THREADS = [int(t) for t in option("--threads", "1,2").split(",")]
ONLY = option("--only", "lenet5,annealing,mnist7,mnist7-smc,resnet20,head,head100,pima").split(",")
# Without these glibc hands PyTorch's large activations back to the system after every pass, which costs it a lot.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "268435456"}

PEERS = {
    "lenet5": [("PyTorch", "lenet_torch.py --n 1000 --chunk 500 --mode loop --repeats 3"),
               ("JAX", "lenet_jax.py --n 1000 --chunk 500 --mode loop_im2col_py --repeats 3")],
    "annealing": [("JAX", "annealing_jax.py --n 2000 --repeats 3")],
    "mnist7": [("PyTorch", "mnist7.py --mode torch --repeats 3"), ("JAX", "mnist7.py --mode jax --conv im2col --repeats 3")],
    "mnist7-smc": [("BlackJAX", "mnist7.py --mode blackjax --conv im2col --stages 3 --mcmc 10")],
    "resnet20": [("PyTorch", "resnet20_torch.py --repeats 3"), ("JAX", "resnet20_jax.py --mode im2col --repeats 3")],
    "head": [("JAX", "head.py --mode handwritten --particles 10"), ("BlackJAX", "head.py --mode blackjax --particles 10")],
    "head100": [("JAX", "head.py --mode handwritten --particles 100"), ("BlackJAX", "head.py --mode blackjax --particles 100")],
    "pima": [("BlackJAX", "pima_blackjax.py --repeats 3")],
}
RATE = {"lenet5": "images_particles_per_s", "annealing": "images_particles_grads_per_s",
        "mnist7": "image_particle_grads_per_s", "mnist7-smc": "image_particle_grads_per_s", "resnet20": "images_per_s", "head": "moves_per_s", "head100": "moves_per_s",
        "pima": None}
# Particles of the heads, and the config of their runs, in which moves are so short that they hardly change the evidence.
HEADS = {"head": 10, "head100": 100}
HEAD = """
data: {{train: {{inputs: {folder}/x.npy, targets: {folder}/y.npy}}, whole: true}}
model: {{layers: [{{dense: 2}}], likelihood: categorical}}
prior: {{normal: {{variance: 0.0025}}}}
method:
  smc:
    particles: {particles}
    islands: 1
    path: {{tempering: {{ess: 0.5}}}}
    move: {{hmc: {{steps: 1, step: 0.002, mutations: 1}}}}
    resample: {{scheme: systematic, when: always}}
"""
LOGZ = {}  # log-evidences of heads
# What starling computes of the first particle of its peers, and on how many of their images.
SAME = {"lenet5": "lenet5 --n 1000", "annealing": "lenet5 --n 2000", "mnist7": "mnist7 --n 1200", "mnist7-smc": "mnist7 --n 1200",
        "resnet20": "resnet20 --n 256"}


def run(command, threads, **env):
    cpus = ",".join(str(c) for c in range(threads))
    env = {**os.environ, "PEER_THREADS": str(threads), "GOMAXPROCS": str(threads), **env}
    out = subprocess.run(["taskset", "-c", cpus, *command], env=env, check=True, capture_output=True, text=True)
    text = out.stdout.strip()
    return json.loads(text if text.startswith("{\n") else text.splitlines()[-1])


def peer(script, threads):
    name, *args = script.split()
    return run([sys.executable, os.path.join(HERE, "peers", name), *args], threads, **MALLOC)


def fit(starling, threads, *args):
    """A run's scores, trace and config."""
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "run")
        scores = run([starling, "fit", *args, "--data-dir", os.environ["STARLING_DATA"], "--out", out, "--json"], threads)
        with open(os.path.join(out, "trace.jsonl")) as trace, open(os.path.join(out, "config.yaml")) as config:
            return scores, [json.loads(line) for line in trace], config.read()


def ours(starling, work, threads):
    """Rates, or seconds of whole runs (start of the program, reading and evaluation included), of one round."""
    if work == "pima":
        times = []
        for seed in range(1, 4):
            start = time.perf_counter()
            scores, _, _ = fit(starling, threads, "pima", "--seed", str(seed))
            times.append(time.perf_counter() - start)
            evidence(scores["log_evidence"])
        return times
    if work in ("annealing", "mnist7-smc"):  # the iterations after the first, which also has a gradient to begin with
        if work == "annealing":
            _, trace, config = fit(starling, threads, "mnist-lenet5-full", "--set", "method.smc.path.full.iterations=3",
                                   "--set", "model.layers.2={maxpool: 2}", "--set", "model.layers.5={maxpool: 2}")
            assert config.count("maxpool") == 2 and "avgpool" not in config and len(trace) == 3, config
        else:
            _, trace, config = fit(starling, threads, "mnist7-smc", "--set", "method.smc.islands=1", "--set", "map.restarts=1")
            for a, b in zip(trace, trace[1:]):
                trials = (b["gradients"] - a["gradients"]) / 1200 - 10 * 10  # gradients of a particle over all images, beside the moves'
                assert b["mutations"] == 10 and b["leapfrogs"] == 1 and trials >= 0 and trials % 1 == 0, (b, config)
        return [(b["gradients"] - a["gradients"]) / (b["seconds"] - a["seconds"]) for a, b in zip(trace, trace[1:])]
    if work == "resnet20":
        name = f"BenchmarkLogLik/resnet20projected/batch256/threads={threads}$"
        out = subprocess.run(["taskset", "-c", ",".join(str(c) for c in range(threads)), "go", "test", "-run", "xxx", "-bench", name.replace("/", "$/^"),
                              "-benchtime", "3x", "./nn"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return [float(re.search(r"([0-9.e+]+) image-particles/s", out)[1])]
    if work in HEADS:  # the stages after the first, which also has a gradient to begin with
        particles, rates = HEADS[work], []
        with tempfile.TemporaryDirectory() as d:
            peer(f"head.py --mode data --out {d}", threads)
            path = os.path.join(d, "head.yaml")
            with open(path, "w") as f:
                f.write(HEAD.format(particles=particles, folder=d))
            for seed in range(1, 4):
                scores, trace, _ = fit(starling, threads, path, "--set", f"seed={seed}")
                LOGZ.setdefault(work, []).append(scores["log_evidence"])
                rates += [particles / (b["seconds"] - a["seconds"]) for a, b in zip(trace, trace[1:])]
        return rates
    b = run([starling, "bench", "--only", work, "--repeats", "3", "--json"], threads)["threads"][str(threads)]["nets"][work]["full"]
    return [b["images"] * 10 / b["median_s"]]


def evidence(got):
    """Pima's log-evidence is known; single runs have a standard deviation of about 0.2."""
    if not abs(got + 391.4955) < 1.5:
        sys.exit(f"pima: a log-evidence of {got}, not -391.50")


def build(starling):
    subprocess.run(["go", "build", "-o", starling, "./cmd/starling"], cwd=ROOT, check=True)
    for command in [starling, "version"], ["git", "describe", "--always", "--dirty"]:
        print(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip())


def compare(starling, work, threads):
    got = {name: [] for name in ["starling"] + [p for p, _ in PEERS[work]]}
    if work in SAME:
        loglik = peer(f"starling_as_is.py --starling {starling} --net {SAME[work]}", threads)["loglik0"]
    for round in range(1, ROUNDS + 1):
        got["starling"] += ours(starling, work, threads)
        for name, script in PEERS[work]:
            r = peer(script + (f" --seed {round}" if work in HEADS else ""), threads)
            if work in HEADS:
                LOGZ.setdefault(work + " " + name, []).append(r["logz"])
            elif work not in SAME:
                evidence(r["logz"])
            elif not abs(r["loglik0"] - loglik) < 1e-4 * abs(loglik):
                sys.exit(f"{work}: {name} has log-likelihood {r['loglik0']}, starling {loglik}")
            if RATE[work]:
                got[name].append(r[RATE[work]] * r["wall_min_s"] / r["wall_median_s"])
            else:
                got[name].append(r["wall_median_s"])
    for name in (n for n in LOGZ if n.startswith(work)):
        v = LOGZ[name]
        print(f"{name}: log Z {statistics.mean(v):.1f} ± {statistics.stdev(v) / len(v) ** 0.5 if len(v) > 1 else float('nan'):.1f} of {len(v)} runs")
    base = statistics.median(got["starling"])
    for name, v in got.items():
        m = statistics.median(v)
        ratio = base / m if RATE[work] else m / base
        best = max(v) if RATE[work] else min(v)
        unit = "s" if not RATE[work] else "moves/s" if work in HEADS else "image-gradients/s"
        print(f"{work:10} {threads} thread(s) {name:9} median {m:11.4g} best {best:11.4g} {unit}; starling is {ratio:.2f} × as fast", flush=True)


def main():
    if "STARLING_DATA" not in os.environ:
        sys.exit("set STARLING_DATA to the folder that has mnist/ and uci/")
    with tempfile.TemporaryDirectory() as d:
        starling = os.path.join(d, "starling")
        build(starling)
        print(f"load before: {os.getloadavg()}")
        for work in ONLY:
            for threads in THREADS:
                compare(starling, work, threads)
        print(f"load after: {os.getloadavg()}")


main()
