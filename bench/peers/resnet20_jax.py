"""W6: ResNet-20 with filter response normalisation on 32x32x3 in JAX (NHWC, jit): value and gradient of the summed cross entropy, one particle.

--mode lax|im2col  --batch 256
"""
from common import BLOCKS, arg, colours, report, resnet20, timed
import jax
import jax.numpy as jnp
from jax import lax

B, MODE = arg("batch", 256, int), arg("mode", "lax")


def conv(x, w, stride):
    k, _, i, o = w.shape
    if MODE == "lax":
        pad = [(k // 2, k // 2)] * 2
        return lax.conv_general_dilated(x, w, (stride, stride), pad, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    if k == 1:
        return x[:, ::stride, ::stride] @ w[0, 0]
    h = x.shape[1]
    x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    columns = jnp.concatenate([x[:, a:a + h:stride, b:b + h:stride] for a in range(3) for b in range(3)], -1)
    return columns @ w.reshape(9 * i, o)


def normed(p, name, x, stride):
    x = conv(x, p[f"{name}.conv.weight"], stride)
    g, b, t = (p[f"{name}.norm.{k}"] for k in ("weight", "bias", "tau"))
    return jnp.maximum(g * (x * lax.rsqrt((x * x).mean((1, 2), keepdims=True) + 1e-6)) + b, t)


def loss(p, x, y):
    x = normed(p, "first", x, 1)
    for k, (i, o, stride) in enumerate(BLOCKS):
        shortcut = conv(x, p[f"{k}.shortcut.weight"], stride) if i != o else x
        x = normed(p, f"{k}.b", normed(p, f"{k}.a", x, stride), 1) + shortcut
    logits = jax.nn.log_softmax(x.mean((1, 2)) @ p["head.weight"].T + p["head.bias"])
    return -jnp.take_along_axis(logits, y[:, None], 1).sum()


x, y = colours(B)
x, y = jnp.asarray(x.transpose(0, 2, 3, 1)), jnp.asarray(y)
p = {k: jnp.asarray(v.transpose(2, 3, 1, 0) if v.ndim == 4 else v) for k, v in resnet20().items()}
f = jax.jit(jax.value_and_grad(loss))
first, t = timed(lambda: jax.block_until_ready(f(p, x, y)), arg("repeats", 5, int))
value, grads = f(p, x, y)
report("W6", "jax", jax.__version__, t, first, ("images_per_s", B), mode=MODE, batch=B, d=sum(v.size for v in p.values()),
       loglik0=-float(value), grad0_norm=float(jnp.sqrt(sum((g ** 2).sum() for g in grads.values()))))
