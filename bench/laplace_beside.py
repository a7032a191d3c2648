#!/usr/bin/env python3
"""Laplace beside laplace-torch, at the same weights: marginal likelihood, seconds and memory.

    STARLING_DATA=dir venv/bin/python bench/laplace_beside.py [--threads 1]

dir has mnist/ with the files of MNIST, as they are offered. The networks are a head, an MLP and LeNet-5 on 1,200 of its digits; PyTorch trains each for a few epochs, and
starling takes the weights by model.init. Both have the prior N(0, .1) and all weights random, or those of the last layer. The marginal
likelihoods are the same for full and diagonal matrices. Of Kronecker factors they differ, since starling's factor A has the bias's 1 in
it, where laplace-torch gives the bias a block of its own.
"""
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from laplace import Laplace
from safetensors.torch import save_file
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, VARIANCE = 1200, .1


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


THREADS = int(option("--threads", "1"))
torch.set_num_threads(THREADS)
torch.manual_seed(1)


def idx(name, offset):
    with gzip.open(os.path.join(os.environ["STARLING_DATA"], "mnist", name + ".gz"), "rb") as f:
        return np.frombuffer(f.read(), np.uint8, offset=offset)


x = (idx("train-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)[:ROWS] / 255).astype(np.float32)
y = idx("train-labels-idx1-ubyte", 8)[:ROWS].astype(np.int32)

HEAD = ("[{dense: 10}]", lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 10)))
MLP = ("[{dense: 50}, tanh, {dense: 10}]", lambda: nn.Sequential(nn.Flatten(), nn.Linear(784, 50), nn.Tanh(), nn.Linear(50, 10)))
LENET = ("[{conv: {filters: 6, kernel: 5, pad: 2}}, relu, {maxpool: 2}, {conv: {filters: 16, kernel: 5}}, relu, {maxpool: 2}, {dense: 120}, relu, {dense: 84}, relu, {dense: 10}]",
         lambda: nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                               nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)))


def trained(make):
    net = make()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=1e-2)
    for _ in range(20):
        for rows in torch.randperm(ROWS).split(64):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(torch.from_numpy(x)[rows]), torch.from_numpy(y).long()[rows]).backward()
            optimiser.step()
    return net.eval()


def torch_laplace(net, structure, last):
    data = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y).long()), batch_size=200)
    la = Laplace(net, "classification", subset_of_weights="last_layer" if last else "all", hessian_structure=structure, prior_precision=1 / VARIANCE)
    start = time.perf_counter()
    la.fit(data)
    return float(la.log_marginal_likelihood()), time.perf_counter() - start


def starling_laplace(binary, folder, number, layers, structure, last):
    with open(os.path.join(folder, "laplace.yaml"), "w") as f:
        f.write(f"""data: {{train: {{inputs: x.npy, targets: y.npy}}, whole: true}}
model: {{init: net.safetensors, layers: {layers}, likelihood: categorical}}
prior: {{normal: {{variance: {VARIANCE}}}}}
method: {{laplace: {{of: {"last" if last else "all"}, structure: {structure}, precision: prior}}}}
""")
    out = os.path.join(folder, f"run-{number}")
    done = subprocess.run([binary, "fit", "laplace.yaml", "--json", "--threads", str(THREADS), "--out", out], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    found = {f["kind"]: f for f in json.loads(done.stdout)["findings"]}
    with open(os.path.join(out, "manifest.json")) as f:
        manifest = json.load(f)
    return found["laplace-evidence"]["numbers"]["log_evidence"], manifest["work_seconds"]


with tempfile.TemporaryDirectory() as folder:
    binary = os.path.join(folder, "starling")
    subprocess.run(["go", "build", "-o", binary, "./cmd/starling"], cwd=os.path.dirname(HERE), check=True)
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "y.npy"), y)
    for name, (layers, make), last, structures in [
        ("head", HEAD, False, ["kron", "diag"]), ("MLP", MLP, False, ["kron", "diag"]), ("MLP, last", MLP, True, ["kron", "diag", "full"]),
        ("LeNet-5", LENET, False, ["kron", "diag"]), ("LeNet-5, last", LENET, True, ["kron", "diag", "full"]),
    ]:
        net = trained(make)
        save_file({k: v.contiguous() for k, v in net.state_dict().items()}, os.path.join(folder, "net.safetensors"))
        for structure in structures:
            theirs, seconds = torch_laplace(net, structure, last)
            ours, own = starling_laplace(binary, folder, f"{name}-{structure}", layers, {"diag": "diagonal"}.get(structure, structure), last)
            print(f"{name:14} {structure:5} log marginal likelihood {ours:12.3f}, laplace-torch {theirs:12.3f}, off by {100 * abs(ours - theirs) / abs(theirs):.4f} %; "
                  f"seconds {own:.2f} and {seconds:.2f}", flush=True)
    print(f"largest resident set of this script {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB, of starling "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB (its build included); load {os.getloadavg()}")
