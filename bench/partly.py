#!/usr/bin/env python3
"""Times the gradients of a partly random network in starling, JAX and PyTorch, in turn, and prints the ratios.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/python bench/partly.py [--rounds 3]

The network is 8 → 450 → hidden → 1 with GELU, its first layer random, the rest shared by J particles. A call of JAX and PyTorch gives
the log-likelihoods, the gradients of each particle's first layer, and the sum of the particles' gradients of the rest. starling computes
the same in two calls, each with a forward pass of its own, since in a sampler the weights of that sum come between them. Its GELU is
exact; the others take the approximation by tanh, which is JAX's default. One thread of one CPU; printed are medians over rounds in ms.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
PIN = ["taskset", "-c", "0"]
# Without these glibc hands PyTorch's large activations back to the system after every pass, which costs it a lot.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_TOP_PAD_": "268435456"}


def peer(script, hidden, j, batch):
    """The median milliseconds of a peer's repeats."""
    args = ["--hidden", str(hidden), "--j", str(j), "--batch", str(batch), "--repeats", "5"]
    out = subprocess.run(PIN + [sys.executable, os.path.join(HERE, "peers", script), *args], check=True, capture_output=True, text=True,
                         env={**os.environ, "PEER_THREADS": "1", **(MALLOC if "torch" in script else {})}, cwd=os.path.join(HERE, "peers"))
    return 1e3 * json.loads(out.stdout.strip().splitlines()[-1])["wall_median_s"]


def ours(binary, hidden, j, batch):
    """Milliseconds of starling's two calls: gradients of theta, of psi."""
    name = f"^BenchmarkFirstLayer$/^hidden={hidden}$/^J={j}$/^batch={batch}$"
    out = subprocess.run(PIN + [binary, "-test.run", "XXX", "-test.bench", name, "-test.benchtime", "300ms", "-test.cpu", "1"],
                         check=True, capture_output=True, text=True)
    found = dict(re.findall(r"/(theta|psi)\s+\d+\s+(\d+) ns/op", out.stdout))
    return [float(found[k]) / 1e6 for k in ("theta", "psi")]


def main():
    cases = [(h, j, b) for h in (450, 20) for j in (10, 100) for b in (100, 128)]
    times = {c: {} for c in cases}
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "nn.test")
        subprocess.run(["go", "test", "-c", "-o", binary, "./nn"], check=True, cwd=os.path.join(HERE, ".."))
        for _ in range(ROUNDS):
            for c in cases:
                theta, psi = ours(binary, *c)
                for program, ms in (("theta", theta), ("psi", psi), ("starling", theta + psi),
                                    ("JAX", peer("pbnn_jax.py", *c)), ("PyTorch", peer("pbnn_torch.py", *c))):
                    times[c].setdefault(program, []).append(ms)
    print("| hidden | J | batch | gradients of θ | sum for ψ | starling | JAX | PyTorch | times JAX | times PyTorch |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for c in cases:
        m = {p: statistics.median(t) for p, t in times[c].items()}
        print("| " + " | ".join(map(str, c)) + " | " + " | ".join(f"{m[p]:.2f}" for p in ("theta", "psi", "starling", "JAX", "PyTorch"))
              + f" | {m['JAX'] / m['starling']:.2f} | {m['PyTorch'] / m['starling']:.2f} |")
    print(f"load average {os.getloadavg()[0]:.1f}")


main()
