"""A head on features: 768 of them, 2 classes (D = 1,538), 25,000 generated rows of length about 1.

Adaptive tempered SMC from the prior N(0, .0025): HMC of one leapfrog of .002, one move a stage, ESS
target of half the particles, systematic resampling after every stage, until the temperature is 1.

--mode blackjax     adaptive_tempered_smc as it comes
       handwritten  one jitted stage that keeps value and gradient from stage to stage
       data         nothing is run: the rows are written to the folder --out, x.npy and y.npy
--particles, --seed
"""
from common import arg, report
import os
import time
import numpy as np

N, MODE, SEED = arg("particles", 10, int), arg("mode", "blackjax"), arg("seed", 1, int)
ROWS, INPUTS, D, VARIANCE, H = 25000, 768, 1538, 0.0025, 0.002
rng = np.random.default_rng(0)
x = (rng.standard_normal((ROWS, INPUTS)) / np.sqrt(INPUTS)).astype(np.float32)
y = (x @ (4 * rng.standard_normal(INPUTS).astype(np.float32)) + rng.logistic(size=ROWS) > 0).astype(np.int32)
if MODE == "data":
    np.save(os.path.join(arg("out", "."), "x.npy"), x)
    np.save(os.path.join(arg("out", "."), "y.npy"), y)
    print("{}")
    raise SystemExit

import jax
import jax.numpy as jnp

x, y = jnp.asarray(x), jnp.asarray(y)


def logprior(t):
    return -0.5 * (t ** 2).sum() / VARIANCE


def loglik(t):
    z = x @ t[:2 * INPUTS].reshape(2, INPUTS).T + t[2 * INPUTS:]
    return jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], 1).sum()


first = np.sqrt(VARIANCE) * jax.random.normal(jax.random.key(SEED), (N, D))

if MODE == "blackjax":
    import blackjax
    import blackjax.smc.resampling as resampling
    from blackjax.smc import extend_params

    smc = blackjax.adaptive_tempered_smc(
        logprior, loglik, blackjax.hmc.build_kernel(), blackjax.hmc.init,
        extend_params({"step_size": H, "inverse_mass_matrix": jnp.ones(D), "num_integration_steps": 1}),
        resampling.systematic, 0.5, num_mcmc_steps=1)
    state, stage, version = smc.init(first), jax.jit(smc.step), blackjax.__version__
    temperature = lambda s: float(getattr(s, "tempering_param", getattr(s, "lmbda", np.nan)))
    particles, gain = lambda s: s.particles, lambda s, info: float(info.log_likelihood_increment)
else:
    values = jax.vmap(jax.value_and_grad(loglik))

    def share(ll, d):
        return jnp.exp(-jax.scipy.special.logsumexp(2 * jax.nn.log_softmax(ll * d)))

    @jax.jit
    def stage(key, s):
        t, ll, g, at, _ = s
        resample, draw, accept = jax.random.split(key, 3)

        def halve(_, ends):
            low, high = ends
            middle = (low + high) / 2
            enough = share(ll, middle) >= N / 2
            return jnp.where(enough, middle, low), jnp.where(enough, high, middle)
        d = jnp.where(share(ll, 1 - at) >= N / 2, 1 - at, jax.lax.fori_loop(0, 40, halve, (0.0, 1 - at))[0])
        logz = jax.scipy.special.logsumexp(ll * d) - jnp.log(N)
        points = (jnp.arange(N) + jax.random.uniform(resample)) / N
        chosen = jnp.clip(jnp.searchsorted(jnp.cumsum(jax.nn.softmax(ll * d)), points), 0, N - 1)
        t, ll, g, at = t[chosen], ll[chosen], g[chosen], at + d
        p = jax.random.normal(draw, t.shape)
        before = at * ll + jax.vmap(logprior)(t) - 0.5 * (p ** 2).sum(1)
        p = p + H / 2 * (at * g - t / VARIANCE)
        t1 = t + H * p
        ll1, g1 = values(t1)
        p = p + H / 2 * (at * g1 - t1 / VARIANCE)
        after = at * ll1 + jax.vmap(logprior)(t1) - 0.5 * (p ** 2).sum(1)
        ok = jnp.log(jax.random.uniform(accept, (N,))) < after - before
        return jnp.where(ok[:, None], t1, t), jnp.where(ok, ll1, ll), jnp.where(ok[:, None], g1, g), at, logz

    state, version = (first, *values(first), jnp.float32(0), jnp.float32(0)), jax.__version__
    temperature, particles, gain = lambda s: float(s[3]), lambda s: s[0], lambda s, info: float(s[4])

times, logz, compiled, k = [], 0.0, 0.0, 0
while temperature(state) < 1:
    k += 1
    t0, c0 = time.perf_counter(), time.process_time()
    out = stage(jax.random.key(100 * SEED + k), state)
    state, info = out if MODE == "blackjax" else (out, None)
    jax.block_until_ready(particles(state))
    took = time.perf_counter() - t0, time.process_time() - c0
    logz += gain(state, info)
    if k == 1:
        compiled = took[0]
    else:
        times.append(took)
report("head", MODE, version, times, compiled, ("moves_per_s", N), particles=N, stages=k, logz=logz, jax=jax.__version__)
