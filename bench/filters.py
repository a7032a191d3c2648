#!/usr/bin/env python3
"""Times starling's filters and other programs on the same work, in turn, and prints the ratios.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/python bench/filters.py [--rounds 3]

Everything runs on one thread of one CPU. gaussian-500 and gaussian-5000 are runs of 20 scans of the dynamic Gaussian model with so many
measurements a scan, 4,000 samples after 1,000 of burn-in; clutter is a scan of three targets in clutter, about 8,500 returns. The
programs draw data of their own by the same rules. Printed are the medians over rounds, and how many times as long the others take.
"""
import json
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
PIN = ["taskset", "-c", "0"]


def peer(script, *args):
    """The median seconds of a peer's repeats."""
    out = subprocess.run(PIN + [sys.executable, os.path.join(HERE, "peers", script), *args], check=True, capture_output=True, text=True,
                         env={**os.environ, "PEER_THREADS": "1"}, cwd=os.path.join(HERE, "peers"))
    return json.loads(out.stdout.strip().splitlines()[-1])["wall_median_s"]


def ours(binary, names, times):
    """Seconds of starling's benchmarks, by name."""
    out = subprocess.run(PIN + [binary, "-test.run", "XXX", "-test.bench", names, "-test.benchtime", times, "-test.cpu", "1"],
                         check=True, capture_output=True, text=True)
    return {m[1]: float(m[2]) / 1e9 for m in re.finditer(r"^Benchmark(\S+)\s+\d+\s+(\d+) ns/op", out.stdout, re.M)}


def main():
    binary = os.path.join("/tmp", f"starling-filter-bench-{os.getpid()}")
    subprocess.run(["go", "test", "-c", "-o", binary, "./filter"], check=True, cwd=os.path.join(HERE, ".."))
    seconds = {}

    def add(work, program, s):
        seconds.setdefault(work, {}).setdefault(program, []).append(s)
    for _ in range(ROUNDS):
        for m in ("500", "5000"):
            for impl in ("numba", "jax", "particles"):
                add("gaussian-" + m, impl, peer("smcmc_gaussian.py", "--impl", impl, "--m", m))
            for name, s in ours(binary, f"^BenchmarkExample1$/^{m}$/", "10x").items():
                add("gaussian-" + m, "starling " + name.split("/")[-1], s)
        add("clutter", "numba", peer("smcmc_clutter.py", "--impl", "numba_fast"))
        for name, s in ours(binary, "^BenchmarkClutter3$", "40x").items():
            add("clutter", "starling " + name.split("/")[-1], s)
    os.remove(binary)
    print("| work | program | median s | times as long: " + " | ")
    for work, programs in seconds.items():
        mine = {p: statistics.median(s) for p, s in programs.items() if p.startswith("starling")}
        for program, s in programs.items():
            median = statistics.median(s)
            ratios = "" if program in mine else ", ".join(f"{median / v:.1f} ({p[9:]})" for p, v in mine.items())
            print(f"| {work} | {program} | {median:.4f} | {ratios} |")
    print(f"load average {os.getloadavg()[0]:.1f}")


main()
