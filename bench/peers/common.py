"""Shared by the peer measurements: timing, one JSON line, the same data for every library.

Threads are set from outside: `taskset -c 0 env PEER_THREADS=1 python lenet_jax.py` pins one
core (XLA sizes its pool from the affinity mask, torch and numba are told); `taskset -c 0,1 env
PEER_THREADS=2 ...` uses two. Data sets are read from the folder $STARLING_DATA.
"""
import json
import os
import sys
import time

THREADS = int(os.environ.get("PEER_THREADS", len(os.sched_getaffinity(0))))
for _v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_v, str(THREADS))

import numpy as np

DATA = os.environ.get("STARLING_DATA", "")
MNIST = os.path.join(DATA, "mnist")


def arg(name, default, kind=str):
    """--name value from the command line."""
    flag = "--" + name
    if flag in sys.argv:
        return kind(sys.argv[sys.argv.index(flag) + 1])
    return default


def timed(fn, repeats=5, warmup=1, budget=60.0):
    """(seconds of the first call, [(wall, cpu) seconds of each repeat]) of fn(), which must wait
    for its result.

    cpu is the CPU time of the whole process: where it is well below wall * threads, the machine
    was busy with something else or the library did not use the threads. At least 3 repeats; stops
    early once `budget` seconds are spent.
    """
    t0 = time.perf_counter()
    for _ in range(warmup):
        fn()
    first = time.perf_counter() - t0
    out = []
    for _ in range(repeats):
        t0, c0 = time.perf_counter(), time.process_time()
        fn()
        out.append((time.perf_counter() - t0, time.process_time() - c0))
        if len(out) >= 3 and sum(w for w, _ in out) > budget:
            break
    return first, out


def best(times):
    """Seconds to divide work by: the smallest wall time."""
    return float(np.asarray(times)[:, 0].min())


def report(workload, library, version, times, first=None, work=None, **rest):
    """Print one JSON line; work is (name, count): count/best(times) is given as name."""
    a = np.asarray(times)
    line = {
        "workload": workload,
        "library": library,
        "version": version,
        "threads": THREADS,
        "wall_median_s": round(float(np.median(a[:, 0])), 6),
        "wall_min_s": round(float(a[:, 0].min()), 6),
        "cpu_median_s": round(float(np.median(a[:, 1])), 6),
        "cpu_min_s": round(float(a[:, 1].min()), 6),
        "repeats": len(a),
        "load1": round(os.getloadavg()[0], 2),
    }
    if work:
        line[work[0]] = float(f"{work[1] / best(times):.4g}")
    if first is not None:
        line["first_call_s"] = round(first, 3)
    for k, v in rest.items():
        if isinstance(v, (float, np.floating)):
            v = None if v != v else float(f"{v:.6g}")
        line[k] = v
    print(json.dumps(line), flush=True)


def mnist(n):
    """The first n training images of MNIST (n x 1 x 28 x 28 float32, 0 to 1) and their labels (int32)."""
    import gzip

    def idx(name):
        for path in (f"{MNIST}/{name}{ext}" for ext in ("", ".gz")):
            if os.path.exists(path):
                with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
                    raw = f.read()
                shape = [int.from_bytes(raw[4 + 4 * i: 8 + 4 * i], "big") for i in range(raw[3])]
                return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)
        sys.exit(f"no {MNIST}/{name}: set STARLING_DATA to the folder that has mnist/")

    x, y = idx("train-images-idx3-ubyte")[:n], idx("train-labels-idx1-ubyte")[:n]
    if len(x) < n:
        sys.exit(f"{MNIST} has {len(x)} images, not {n}")
    return (x.astype(np.float32) / 255.0).reshape(n, 1, 28, 28), y.astype(np.int32)


def mnist7(n):
    """The first n training images of digits 0 to 7, as mnist."""
    x, y = mnist(60000)
    keep = np.flatnonzero(y < 8)[:n]
    return x[keep], y[keep]


# LeNet-5: conv weights OIHW, dense weights (out, in), as torch keeps them. D = 61,706.
LENET = [
    ("c1w", (6, 1, 5, 5)), ("c1b", (6,)),
    ("c2w", (16, 6, 5, 5)), ("c2b", (16,)),
    ("f1w", (120, 400)), ("f1b", (120,)),
    ("f2w", (84, 120)), ("f2b", (84,)),
    ("f3w", (10, 84)), ("f3b", (10,)),
]

# Conv 3x3 1->4 pad 1, dense 784->8. D = 6,320.
MNIST7 = [("cw", (4, 1, 3, 3)), ("cb", (4,)), ("fw", (8, 784)), ("fb", (8,))]


def draw(shapes, j, seed=0):
    """J particles of every array, N(0, 1/fan_in) weights and zero biases, the same everywhere."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, shape in shapes:
        if len(shape) == 1:
            out[name] = np.zeros((j, *shape), np.float32)
        else:
            fan = int(np.prod(shape[1:]))
            out[name] = (rng.standard_normal((j, *shape)) / np.sqrt(fan)).astype(np.float32)
    return out


# ResNet-20 on 3x32x32: (channels in, channels out, stride) of its blocks. Where a block changes the channels, its shortcut is a 1x1
# convolution. Every 3x3 convolution has a filter response normalisation with a threshold behind it; nothing is behind a sum.
BLOCKS = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2


def resnet20():
    """One particle, by the names of a state dict: N(0, 1/fan_in) weights, gamma 1, beta, tau and the bias 0. D = 272,970."""
    shapes = []

    def normed(name, i, o):
        shapes.append((f"{name}.conv.weight", (o, i, 3, 3)))
        shapes.extend((f"{name}.norm.{t}", (o,)) for t in ("weight", "bias", "tau"))

    normed("first", 3, 16)
    for k, (i, o, _) in enumerate(BLOCKS):
        normed(f"{k}.a", i, o)
        normed(f"{k}.b", o, o)
        if i != o:
            shapes.append((f"{k}.shortcut.weight", (o, i, 1, 1)))
    shapes += [("head.weight", (10, 64)), ("head.bias", (10,))]
    p = {name: v[0] for name, v in draw(shapes, 1).items()}
    for name in p:
        if name.endswith("norm.weight"):
            p[name] += 1
    return p


def colours(n):
    """n images of noise (n x 3 x 32 x 32 float32) and labels (int32), the same everywhere."""
    rng = np.random.default_rng(1)
    return rng.standard_normal((n, 3, 32, 32)).astype(np.float32), rng.integers(0, 10, n).astype(np.int32)
