"""A partly random network of California's shape, JAX with vmap.

8 -> 450 -> --hidden -> 1, GELU; the first layer is random (J particles of 8*450+450), the rest is shared by all. One call
is the log density and its gradient in theta for every particle, over one batch, and the sum of the particles' gradients
of the shared parameters.
"""
from common import arg, draw, report, timed
import jax
import jax.numpy as jnp
import numpy as np

J, B, H = arg("j", 100, int), arg("batch", 100, int), arg("hidden", 450, int)
INNER = arg("inner", 3, int)
NDATA = 12384
p = draw([("w1", (450, 8)), ("b1", (450,))], J)
s = draw([("w2", (H, 450)), ("b2", (H,)), ("w3", (1, H)), ("b3", (1,))], 1, seed=2)
theta = {k: jnp.asarray(np.swapaxes(v, 1, 2) if v.ndim == 3 else v) for k, v in p.items()}
psi = {k: jnp.asarray(v[0].T) for k, v in s.items()}
rng = np.random.default_rng(1)
x = jnp.asarray(rng.standard_normal((INNER, B, 8)).astype(np.float32))
y = jnp.asarray(rng.standard_normal((INNER, B)).astype(np.float32))


def logpi(t, q, x, y):
    h = jax.nn.gelu(x @ t["w1"] + t["b1"])
    h = jax.nn.gelu(h @ q["w2"] + q["b2"])
    f = (h @ q["w3"] + q["b3"])[:, 0]
    ll = -0.5 * ((y - f) ** 2 + jnp.log(2 * jnp.pi)).sum()
    return NDATA / B * ll - 0.5 * sum((v ** 2).sum() for v in t.values())


def weighted(t, q, x, y):
    v = jax.vmap(logpi, (0, None, None, None))(t, q, x, y)
    return v.sum(), v


# Gradients in theta are per particle (the sum separates); psi's is the sum over particles.
vg = jax.jit(jax.value_and_grad(weighted, (0, 1), has_aux=True))


def run():
    for i in range(INNER):
        r = vg(theta, psi, x[i], y[i])
    jax.block_until_ready(r)


first, t = timed(run, arg("repeats", 5, int))
(_, v), g = vg(theta, psi, x[0], y[0])
gt = g[0]
gn = float(jnp.sqrt(sum((a[0] ** 2).sum() for a in gt.values())))
t = [(a / INNER, b / INNER) for a, b in t]
report("partly", "jax", jax.__version__, t, first, ("batch_particles_per_s", J), j=J, batch=B, hidden=H,
       value0=float(v[0]), grad0_norm=gn)
