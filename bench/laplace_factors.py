#!/usr/bin/env python3
"""Kronecker factors by laplace-torch, of the networks of nn/testdata/net.json that PyTorch has the layers of and that predict classes.

    venv/bin/python bench/laplace_factors.py > nn/testdata/factors.json

TestFactorsOfLaplaceTorch compares them. Of each factor: its trace, its norm, and u'Fu for u[i] = (0.618 i mod 1) - 1/2. A is without the bias,
which has a block of its own there, and G is the mean over examples. Computed in float64 with laplace-torch 0.3, curvlinops 3.0.1, torch 2.15.
"""
import json
import pathlib

import numpy as np
import torch
from laplace import Laplace
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "swish": nn.SiLU}


def layer(l):
    match l["type"]:
        case "linear":
            return nn.Linear(l["in"], l["out"])
        case "act":
            return ACTIVATIONS[l["fn"]]()
        case "conv2d":
            return nn.Conv2d(l["in"], l["out"], l["kernel"], l["stride"], l["padding"])
        case "maxpool2d":
            return nn.MaxPool2d(l["kernel"], l["stride"], l["padding"])
        case "avgpool2d":
            return nn.AvgPool2d(l["kernel"], l["stride"], l["padding"])
        case "flatten":
            return nn.Flatten()


def hashed(h, n):
    """The numbers of a full-size case, by the formula in the conventions of the file."""
    u = np.arange(n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(h["seed"] * 40503 & 0xFFFFFFFF)
    u ^= u >> np.uint32(15)
    u *= np.uint32(2246822519)
    u ^= u >> np.uint32(13)
    v = ((u >> np.uint32(8)).astype(np.float64) / 2**24 - 0.5) * 2.0 ** h["log2scale"]
    return np.maximum(v, 0) if h.get("then") else v


def numbers(f):
    u = (0.618 * np.arange(len(f))) % 1 - 0.5
    return {"trace": float(np.trace(f)), "norm": float(np.linalg.norm(f)), "form": float(u @ f @ u)}


def factors(case):
    given, shape = case["inputs"], case["inputs"]["x_shape"]
    net = nn.Sequential(*map(layer, given["layers"])).double()
    theta = given.get("theta") or hashed(given["theta_hash"], given["num_params"])
    nn.utils.vector_to_parameters(torch.tensor(np.asarray(theta, np.float64)), net.parameters())
    x = given.get("x") or hashed(given["x_hash"], int(np.prod(shape)))
    x, y = torch.tensor(np.asarray(x, np.float64)).reshape(shape), torch.tensor(given["y"])
    fit = Laplace(net, "classification", subset_of_weights="all", hessian_structure="kron")
    fit.fit(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=len(x)))
    both = [f for f in fit.H_facs.kfacs if len(f) == 2]
    return [{"A": numbers(a.numpy()), "G": numbers(g.numpy() / len(x))} for g, a in both]


cases = json.loads((pathlib.Path(__file__).parents[1] / "nn/testdata/net.json").read_text())["cases"]
known = [c for c in cases if c["inputs"]["likelihood"] == "categorical" and all(layer(l) for l in c["inputs"]["layers"])
         and all(l.get("bias", True) for l in c["inputs"]["layers"])]
print(json.dumps({c["name"]: factors(c) for c in known}, indent=1))
