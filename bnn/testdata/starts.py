#!/usr/bin/env python3
"""Writes starts.json: quantiles of weights and biases as PyTorch and JAX draw them, in units of 1/√fan_in, for TestStartsOfLibraries.

    python starts.py > starts.json

The layers have 50 inputs a unit: two of PyTorch's defaults, nn.Linear(50, …) and nn.Conv2d(2, …, 5), and jax.nn.initializers.lecun_normal, the
default of flax.linen.Dense and Conv, with the shapes of their kernels. 4,000,000 draws of each, which JAX makes on one seed and PyTorch on another.
"""
import json
import math

import jax
import numpy as np
import torch

N, FAN_IN = 4_000_000, 50
P = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]


def of(values):
    values = np.asarray(values, np.float64).ravel() * math.sqrt(FAN_IN)
    return {"n": values.size, "quantiles": [round(float(q), 6) for q in np.quantile(values, P)]}


torch.manual_seed(1)
units = N // FAN_IN
linear, conv = torch.nn.Linear(FAN_IN, units), torch.nn.Conv2d(2, units, 5)
biases = torch.cat([torch.nn.Linear(FAN_IN, units).bias.detach() for _ in range(FAN_IN)])
lecun = jax.nn.initializers.lecun_normal()
keys = jax.random.split(jax.random.key(2))
print(json.dumps({
    "p": P,
    "by": {"torch": torch.__version__, "jax": jax.__version__},
    "samples": {
        "torch": {"weight": of(linear.weight.detach()), "convolution": of(conv.weight.detach()), "bias": of(biases)},
        "jax": {"weight": of(lecun(keys[0], (FAN_IN, units))), "convolution": of(lecun(keys[1], (5, 5, 2, units)))},
    },
}, indent=1))
