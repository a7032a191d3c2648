"""The dynamic Gaussian model of sequential-mcmc-massive-data (A=.9, Q=.08, H=1, R=2, T=20).

Algorithm 1 as the paper runs it here: refinement only; x_{k-1} drawn exactly by (28) (O(Np) a
draw), x_k proposed from the prior (35) and accepted by the likelihood ratio over all M
observations. Np = 4000, Nb = 1000 (the paper does not give the burn-in).
--impl numba      every likelihood ratio sums M terms (as a non-Gaussian likelihood must)
       numba_suff the Gaussian likelihood's sufficient statistic, O(1) a ratio (best a user can do)
       jax        lax.scan over the chain, M terms each
       particles  the `particles` library's bootstrap filter, all M observations a step
       numpy_pf   bootstrap filter, 30 lines of numpy, sufficient statistic
Reports RMSE of the posterior mean to the Kalman mean and the mean KS statistic to its Gaussian.
"""
from common import arg, report, timed
import math
import numpy as np
from scipy.stats import norm

IMPL, M = arg("impl", "numba"), arg("m", 500, int)
NP, NB, T = arg("np", 4000, int), arg("nb", 1000, int), 20
A, Q, H, R = 0.9, 0.08, 1.0, 2.0
rng = np.random.default_rng(0)
xs, x = [], rng.normal(0, math.sqrt(Q))
z = np.empty((T, M))
for k in range(T):
    x = A * x + math.sqrt(Q) * rng.normal()
    xs.append(x)
    z[k] = H * x + math.sqrt(R) * rng.normal(size=M)
X0_SD = math.sqrt(Q)


def kalman():
    m, v, out = 0.0, X0_SD ** 2, []
    for k in range(T):
        m, v = A * m, A * A * v + Q
        prec = 1 / v + M * H * H / R
        m = (m / v + H * z[k].sum() / R) / prec
        v = 1 / prec
        out.append((m, v))
    return np.array(out)


def score(parts):
    """parts: T x n unweighted samples."""
    kf = kalman()
    ks = []
    for k in range(T):
        s = np.sort(parts[k])
        g = norm.cdf(s, kf[k, 0], math.sqrt(kf[k, 1]))
        n = len(s)
        ks.append(max(np.abs(np.arange(1, n + 1) / n - g).max(), np.abs(np.arange(n) / n - g).max()))
    return float(np.sqrt(np.mean((parts.mean(1) - kf[:, 0]) ** 2))), float(np.mean(ks))


if IMPL.startswith("numba"):
    import numba
    from numba import njit
    SUFF = IMPL == "numba_suff"

    @njit(fastmath=True)
    def loglik(zk, s1, x):
        if SUFF:
            return (H * x * s1 - 0.5 * len(zk) * H * H * x * x) / R
        a = 0.0
        for i in range(len(zk)):
            d = zk[i] - H * x
            a += d * d
        return -0.5 * a / R

    @njit(fastmath=True)
    def smcmc(z, seed):
        np.random.seed(seed)
        prev = X0_SD * np.random.randn(NP)
        out = np.empty((T, NP))
        cum = np.empty(NP)
        acc = 0
        for k in range(T):
            zk = z[k]
            s1 = zk.sum()
            xp = prev[np.random.randint(NP)]
            xk = A * xp + math.sqrt(Q) * np.random.randn()
            ll = loglik(zk, s1, xk)
            for m in range(NP + NB):
                for j in range(NP):
                    d = xk - A * prev[j]
                    cum[j] = math.exp(-0.5 * d * d / Q)
                t = 0.0
                for j in range(NP):
                    t += cum[j]
                    cum[j] = t
                xp = prev[np.searchsorted(cum, np.random.random() * t)]
                xn = A * xp + math.sqrt(Q) * np.random.randn()
                ln = loglik(zk, s1, xn)
                if math.log(np.random.random()) < ln - ll:
                    xk, ll = xn, ln
                    acc += 1
                if m >= NB:
                    out[k, m - NB] = xk
            prev = out[k].copy()
        return out, acc / (T * (NP + NB))

    run, version = (lambda s: smcmc(z, s)), numba.__version__
elif IMPL == "jax":
    import jax
    import jax.numpy as jnp
    zj = jnp.asarray(z, jnp.float32)

    @jax.jit
    def smcmc(key):
        key, k0 = jax.random.split(key)
        prev = X0_SD * jax.random.normal(k0, (NP,))

        def step_k(carry, zk):
            key, prev = carry
            ll_of = lambda x: -0.5 * ((zk - H * x) ** 2).sum() / R
            key, a, b = jax.random.split(key, 3)
            xk = A * prev[jax.random.randint(a, (), 0, NP)] + math.sqrt(Q) * jax.random.normal(b)

            def mcmc(c, rnd):
                xk, ll = c
                u1, u2, e = rnd
                cum = jnp.cumsum(jnp.exp(-0.5 * (xk - A * prev) ** 2 / Q))
                xp = prev[jnp.searchsorted(cum, u1 * cum[-1])]
                xn = A * xp + math.sqrt(Q) * e
                ln = ll_of(xn)
                ok = jnp.log(u2) < ln - ll
                xk, ll = jnp.where(ok, xn, xk), jnp.where(ok, ln, ll)
                return (xk, ll), (xk, ok)
            n = NP + NB
            key, a, b, c = jax.random.split(key, 4)
            rnd = (jax.random.uniform(a, (n,)), jax.random.uniform(b, (n,)), jax.random.normal(c, (n,)))
            _, (xs, ok) = jax.lax.scan(mcmc, (xk, ll_of(xk)), rnd)
            return (key, xs[NB:]), (xs[NB:], ok.mean())
        _, (out, acc) = jax.lax.scan(step_k, (key, prev), zj)
        return out, acc.mean()

    def run(s):
        o, a = smcmc(jax.random.key(s))
        return np.asarray(o, np.float64), float(a)
    version = jax.__version__
elif IMPL == "particles":
    import particles
    from particles import state_space_models as ssm, distributions as dists
    from importlib.metadata import version as pv

    class Model(ssm.StateSpaceModel):
        def PX0(self):  # the first observation is at k = 1
            return dists.Normal(scale=math.sqrt(A * A * X0_SD ** 2 + Q))

        def PX(self, t, xp):
            return dists.Normal(loc=A * xp, scale=math.sqrt(Q))

        def PY(self, t, xp, x):
            return dists.IndepProd(*[dists.Normal(loc=H * x, scale=math.sqrt(R))] * M)

    class Fast(ssm.Bootstrap):
        """logG by broadcasting: IndepProd loops over M in Python."""
        def logG(self, t, xp, x):
            d = self.data[t][None, :] - H * x[:, None]
            return -0.5 * (d * d).sum(1) / R - 0.5 * M * math.log(2 * math.pi * R)

    class Keep:
        def __init__(self):
            self.out = []

        def __call__(self, pf):
            self.out.append(np.random.choice(pf.X, NP, p=pf.W))

    def run(s):
        np.random.seed(s)
        pf = particles.SMC(fk=Fast(ssm=Model(), data=list(z)), N=NP, resampling="systematic",
                           ESSrmin=0.5)
        k = Keep()
        for _ in pf:
            k(pf)
        return np.array(k.out), float("nan")
    version = pv("particles")
else:
    def run(s):
        r = np.random.default_rng(s)
        x = X0_SD * r.standard_normal(NP)
        out = []
        for k in range(T):
            x = A * x + math.sqrt(Q) * r.standard_normal(NP)
            lw = (H * x * z[k].sum() - 0.5 * M * H * H * x * x) / R
            w = np.exp(lw - lw.max())
            c = np.cumsum(w)
            x = x[np.minimum(np.searchsorted(c, (np.arange(NP) + r.random()) * c[-1] / NP), NP - 1)]
            out.append(x)
        return np.array(out), float("nan")
    version = np.__version__

got = []


def one():
    got.append(run(len(got) + 1))


first, t = timed(one, arg("repeats", 5, int))
sc = np.array([score(o) for o, _ in got])
report("smcmc-gaussian", IMPL, version, t, first, m=M, np=NP, burn_in=NB, steps=T, rmse_to_kalman=sc[:, 0].mean(),
       ks=sc[:, 1].mean(), accept=round(float(np.mean([a for _, a in got])), 4))
