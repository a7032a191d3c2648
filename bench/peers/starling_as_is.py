"""starling's own log-likelihood of the first particle over the same images, by `method: as-is`: loglik0 of its peers.

--starling PROGRAM  --net lenet5|mnist7|resnet20  --n 1000
"""
from common import BLOCKS, LENET, MNIST7, arg, colours, draw, mnist, mnist7, resnet20
import json
import os
import subprocess
import tempfile
import numpy as np
from safetensors.numpy import save_file

NET, N = arg("net", "lenet5"), arg("n", 1000, int)


def first(shapes):
    """The first particle, by the names of a state dict."""
    return {k[:-1] + {"w": ".weight", "b": ".bias"}[k[-1]]: v[0].copy() for k, v in draw(shapes, 10).items()}


def normed(name, filters, stride):
    return (f"{{conv: {{filters: {filters}, kernel: 3, stride: {stride}, pad: 1, bias: false}}, name: {name}.conv}}, "
            f"{{frn: {{tlu: true}}, name: {name}.norm}}")


if NET == "resnet20":
    weights, (x, y) = resnet20(), colours(N)
    layers = "[" + normed("first", 16, 1)
    for k, (i, o, s) in enumerate(BLOCKS):
        shortcut = f", shortcut: [{{conv: {{filters: {o}, kernel: 1, stride: {s}, bias: false}}, name: {k}.shortcut}}]" if i != o else ""
        layers += f", {{residual: {{body: [{normed(f'{k}.a', o, s)}, {normed(f'{k}.b', o, 1)}]{shortcut}}}}}"
    layers += ", global_avgpool, {dense: 10, name: head}]"
elif NET == "lenet5":
    weights, (x, y) = first(LENET), mnist(N)
    layers = """[{conv: {filters: 6, kernel: 5, pad: 2}, name: c1}, relu, {maxpool: 2}, {conv: {filters: 16, kernel: 5}, name: c2},
    relu, {maxpool: 2}, {dense: 120, name: f1}, relu, {dense: 84, name: f2}, relu, {dense: 10, name: f3}]"""
else:
    weights, (x, y) = first(MNIST7), mnist7(N)
    layers = "[{conv: {filters: 4, kernel: 3, pad: 1}, name: c}, relu, {maxpool: 2}, {dense: 8, name: f}]"

with tempfile.TemporaryDirectory() as d:
    np.save(os.path.join(d, "x.npy"), x)
    np.save(os.path.join(d, "y.npy"), y)
    save_file(weights, os.path.join(d, "net.safetensors"))
    with open(os.path.join(d, "net.yaml"), "w") as f:
        f.write(f"""name: as-is
data: {{train: {{inputs: x.npy, targets: y.npy}}}}
model:
  init: net.safetensors
  layers: {layers}
  likelihood: categorical
method: as-is
""")
    out = subprocess.run([arg("starling", "starling"), "fit", "net.yaml", "--out", "run", "--json"],
                         cwd=d, check=True, stdout=subprocess.PIPE, text=True).stdout
scores = json.loads(out)
print(json.dumps({"library": "starling", "net": NET, "n": scores["n"], "loglik0": -scores["nll"] * scores["n"]}))
