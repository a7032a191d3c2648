#!/usr/bin/env python3
"""Accuracy and NLL of single MAP restarts on the test images of mnist7, computed by PyTorch from a run's map.safetensors.

    STARLING_DATA=dir venv/bin/python bench/maps.py RUN...

The networks are rebuilt in PyTorch and the test set is cut anew from MNIST, so this also shows that the files are what
they say. Needs torch and safetensors.
"""
import os
import statistics
import sys

import gzip
import numpy as np
import torch
from safetensors.torch import load_file


def idx(name):
    raw = gzip.open(os.path.join(os.environ["STARLING_DATA"], "mnist", name)).read()
    shape = [int.from_bytes(raw[4 + 4 * i: 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


x, y = idx("t10k-images-idx3-ubyte.gz"), idx("t10k-labels-idx1-ubyte.gz")
keep = np.flatnonzero(y < 8)[:7000]
x = torch.from_numpy(x[keep].astype(np.float32) / 255).unsqueeze(1)
y = torch.from_numpy(y[keep].astype(np.int64))
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(784, 8))
accuracies, nlls = [], []
with torch.no_grad():
    for run in sys.argv[1:]:
        tensors = load_file(os.path.join(run, "map.safetensors"))
        for j in range(len(tensors["val_nll"])):
            net.load_state_dict({name: tensors[name][j] for name in net.state_dict()})
            out = net(x)
            accuracies.append(100 * (out.argmax(1) == y).float().mean().item())
            nlls.append(torch.nn.functional.cross_entropy(out, y).item())
print(f"{len(nlls)} restarts: accuracy {statistics.mean(accuracies):.2f} % (sd {statistics.stdev(accuracies):.2f}), "
      f"NLL {statistics.mean(nlls):.4f} (sd {statistics.stdev(nlls):.4f})")
