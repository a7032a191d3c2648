"""A partly random network of California's shape, PyTorch: the same numbers as pbnn_jax.py, by baddbmm over the particles and
one call of autograd."""
from common import arg, draw, report, timed, THREADS
import math
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(THREADS)
J, B, H = arg("j", 100, int), arg("batch", 100, int), arg("hidden", 450, int)
INNER = arg("inner", 3, int)
NDATA = 12384
p = draw([("w1", (450, 8)), ("b1", (450,))], J)
s = draw([("w2", (H, 450)), ("b2", (H,)), ("w3", (1, H)), ("b3", (1,))], 1, seed=2)
theta = {k: torch.from_numpy(v).requires_grad_() for k, v in p.items()}
psi = {k: torch.from_numpy(v[0]).requires_grad_() for k, v in s.items()}
rng = np.random.default_rng(1)
x = torch.from_numpy(rng.standard_normal((INNER, B, 8)).astype(np.float32))
y = torch.from_numpy(rng.standard_normal((INNER, B)).astype(np.float32))
gelu = lambda h: F.gelu(h, approximate="tanh")


def tail(h, q, y, t):
    h = gelu(F.linear(h, q["w2"], q["b2"]))
    f = F.linear(h, q["w3"], q["b3"])[..., 0]
    ll = -0.5 * ((y - f) ** 2 + math.log(2 * math.pi)).sum(-1)
    pr = sum((v ** 2).flatten(1).sum(1) if v.dim() > 1 and v.shape[0] == J else (v ** 2).sum()
             for v in t.values())
    return NDATA / B * ll - 0.5 * pr


def batched(t, q, x, y):
    h = gelu(torch.baddbmm(t["b1"][:, None], x.expand(J, B, 8), t["w1"].transpose(1, 2)))
    return tail(h, q, y, t)


def one(i):
    for v in (*theta.values(), *psi.values()):
        v.grad = None
    v = batched(theta, psi, x[i], y[i])
    v.sum().backward()
    return v


first, t = timed(lambda: [one(i) for i in range(INNER)], arg("repeats", 5, int))
v = one(0)
gn = float(sum((a.grad[0] ** 2).sum() for a in theta.values())) ** 0.5
t = [(a / INNER, b / INNER) for a, b in t]
report("partly", "torch", torch.__version__, t, first, ("batch_particles_per_s", J), j=J,
       batch=B, hidden=H, value0=float(v[0].detach()), grad0_norm=gn)
