"""One full-batch iteration of data-annealing-smc in JAX, LeNet-5, J = 10, HMC S = 3, h = 0.002.

One jitted step: ESS and multinomial resampling, momenta, S leapfrogs (log posterior and gradient
kept from the last iteration, so S gradient passes over the data), weight by eq. (12).
--conv lax | im2col   --particles vmap | loop   --n 60000 --chunk 500  (time is linear in n)
"""
from common import arg, draw, mnist, report, timed, LENET
import jax
import jax.numpy as jnp
from jax import lax

N, J, S, H = arg("n", 60000, int), arg("j", 10, int), arg("s", 3, int), 0.002
CHUNK, CONV, PART = arg("chunk", 500, int), arg("conv", "im2col"), arg("particles", "loop")


def conv(x, w, b, pad):
    if CONV == "lax":
        return lax.conv_general_dilated(x, w, (1, 1), [(pad, pad)] * 2,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
    x = jnp.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    k, _, ci, co = w.shape
    h = x.shape[1] - k + 1
    cols = jnp.concatenate([x[:, i:i + h, j:j + h, :] for i in range(k) for j in range(k)], -1)
    return cols @ w.reshape(k * k * ci, co) + b


def pool(x):
    if CONV == "lax":
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def loglik(p, x, y):
    h = pool(jax.nn.relu(conv(x, p["c1w"], p["c1b"], 2)))
    h = pool(jax.nn.relu(conv(h, p["c2w"], p["c2b"], 0))).reshape(x.shape[0], -1)
    h = jax.nn.relu(h @ p["f1w"] + p["f1b"])
    h = jax.nn.relu(h @ p["f2w"] + p["f2b"])
    lp = jax.nn.log_softmax(h @ p["f3w"] + p["f3b"])
    return jnp.take_along_axis(lp, y[:, None], 1).sum()


vg1 = jax.value_and_grad(loglik)


def over(p, x, y):
    if PART == "vmap":
        return jax.vmap(vg1, (0, None, None))(p, x, y)
    return lax.map(lambda q: vg1(q, x, y), p)


def sq(t):
    return sum((v.reshape(J, -1) ** 2).sum(1) for v in t.values())


def logpi(p, xs, ys):
    """Log posterior (standard normal prior) and gradient of every particle."""
    def body(acc, xy):
        return jax.tree.map(jnp.add, acc, over(p, *xy)), None
    zero = (jnp.zeros(J), jax.tree.map(jnp.zeros_like, p))
    l, g = lax.scan(body, zero, (xs, ys))[0]
    return l - 0.5 * sq(p), jax.tree.map(jnp.subtract, g, p)


@jax.jit
def iteration(key, p, l, g, lw, xs, ys):
    kr, km = jax.random.split(key)
    w = jax.nn.softmax(lw)
    idx = jax.random.choice(kr, J, (J,), p=w)
    idx = jnp.where(1 / (w ** 2).sum() < J / 2, idx, jnp.arange(J))
    lw = jnp.where(1 / (w ** 2).sum() < J / 2, jnp.zeros(J), lw)
    p, l, g = jax.tree.map(lambda a: a[idx], (p, l, g))
    m = {k: jax.random.normal(kk, v.shape) for (k, v), kk in zip(p.items(), jax.random.split(km, len(p)))}
    l0, ke0 = l, 0.5 * sq(m)

    def leap(c, _):
        p, l, g, m = c
        m = jax.tree.map(lambda a, b: a + H / 2 * b, m, g)
        p = jax.tree.map(lambda a, b: a + H * b, p, m)
        l, g = logpi(p, xs, ys)
        return (p, l, g, jax.tree.map(lambda a, b: a + H / 2 * b, m, g)), None
    (p, l, g, m), _ = lax.scan(leap, (p, l, g, m), None, length=S)
    return p, l, g, lw + l - l0 + ke0 - 0.5 * sq(m)


x, y = mnist(N)
q = draw(LENET, J)
p = {k: jnp.asarray(v) for k, v in q.items()}
for k in ("c1w", "c2w"):
    p[k] = jnp.asarray(q[k].transpose(0, 3, 4, 2, 1))
p["f1w"] = jnp.asarray(q["f1w"].reshape(J, 120, 16, 5, 5).transpose(0, 3, 4, 2, 1).reshape(J, 400, 120))
for k in ("f2w", "f3w"):
    p[k] = jnp.asarray(q[k].transpose(0, 2, 1))
m = N // CHUNK
xs = jnp.asarray(x.transpose(0, 2, 3, 1)[:m * CHUNK].reshape(m, CHUNK, 28, 28, 1))
ys = jnp.asarray(y[:m * CHUNK].reshape(m, CHUNK))
l, g = jax.jit(logpi)(p, xs, ys)
lw, key = jnp.zeros(J), jax.random.key(0)
first, t = timed(lambda: jax.block_until_ready(iteration(key, p, l, g, lw, xs, ys)),
                 arg("repeats", 5, int), arg("warmup", 1, int))
report("annealing", "jax", jax.__version__, t, first, ("images_particles_grads_per_s", m * CHUNK * J * S),
       conv=CONV, particles=PART, n=N, j=J, s=S, chunk=CHUNK, loglik0=float(l[0] + 0.5 * sq(p)[0]))
