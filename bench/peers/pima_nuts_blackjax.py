"""Bayesian logistic regression on the Pima data (768 x 9 with intercept), beta ~ N(0, 25 I): chains of BlackJAX's NUTS after
its own window adaptation, each from a draw of the prior.

--chains 4 --warmup 1000 --draws 1000 --repeats 3 --seed 0 --out FILE
cold: the first run, compilation included; warm: further runs, other seeds. The draws of every run and the gradients that they
took are written to FILE (npz: draws [run, chain, draw, 9], gradients [run], warmup_gradients [run]).
"""
from common import DATA, arg, report
import os
import time
import numpy as np
import blackjax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)  # starling sums log-likelihoods in float64
CHAINS, WARMUP, DRAWS = arg("chains", 4, int), arg("warmup", 1000, int), arg("draws", 1000, int)

raw = np.loadtxt(os.path.join(DATA, "uci", "pima.csv"), delimiter=",", skiprows=1)
x = 0.5 * (raw[:, :-1] - raw[:, :-1].mean(0)) / raw[:, :-1].std(0)
x = np.column_stack([np.ones(len(x)), x]) * (2 * raw[:, -1:] - 1)  # sign: log p = -log(1+exp(-x b))
X = jnp.asarray(x)
p = x.shape[1]


def logdensity(b):
    return jax.scipy.stats.norm.logpdf(b, 0.0, 5.0).sum() - jnp.logaddexp(0.0, -(X @ b)).sum()


def chain(key):
    start, warm, draw = jax.random.split(key, 3)
    adapt = blackjax.window_adaptation(blackjax.nuts, logdensity)
    (state, parameters), info = adapt.run(warm, 5.0 * jax.random.normal(start, (p,)), num_steps=WARMUP)
    kernel = blackjax.nuts(logdensity, **parameters)

    def step(state, key):
        state, info = kernel.step(key, state)
        return state, (state.position, info.num_integration_steps)

    _, (draws, gradients) = jax.lax.scan(step, state, jax.random.split(draw, DRAWS))
    return draws, gradients.sum(), info.info.num_integration_steps.sum()


run = jax.jit(lambda key: jax.lax.map(chain, jax.random.split(key, CHAINS)))
out, times = [], []
for seed in range(1 + arg("repeats", 3, int)):
    t0, c0 = time.perf_counter(), time.process_time()
    out.append([np.asarray(v) for v in run(jax.random.key(arg("seed", 0, int) + seed))])
    times.append((time.perf_counter() - t0, time.process_time() - c0))
draws = np.stack([o[0] for o in out])
gradients, warm = (np.array([o[i].sum() for o in out]) for i in (1, 2))
if arg("out", ""):
    np.savez(arg("out", ""), draws=draws, gradients=gradients, warmup_gradients=warm)
report("Pima by NUTS", "blackjax", blackjax.__version__, times[1:] or times, times[0][0], None,
       chains=CHAINS, warmup=WARMUP, draws=DRAWS, gradients=gradients.tolist(), warmup_gradients=warm.tolist(), jax=jax.__version__)
