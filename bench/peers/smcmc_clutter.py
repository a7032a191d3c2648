"""Three targets in Poisson clutter (Example 2 of sequential-mcmc-massive-data), about 8,500
points a scan, T = 20, N = 4000 samples after Nb = 1000 of burn-in.

Each chain step: the joint draw (41) (previous sample uniform, new state from the transition), the
previous-state refinement with a uniform index (O(1), no data), then for every target a random walk
on its 4 coordinates, Sigma_r = .01 I. The data term of each target at each point is cached, so a
refinement costs one exponential and one logarithm a point.
--impl numba  compiled loops, fastmath, one logarithm a point; PEER_THREADS=2 splits the sum over
              points (prange)
       numba_fast  the same with the exponential written out, so that LLVM vectorises it, and one
              logarithm for the product of 16 points
       numpy  the same chain in Python, arrays over points (numpy's exp and log are vectorised,
              numba's are not unless its LLVM has Intel's SVML)
       as     numba, adaptive subsampling (Algorithm 3; one pass a change of the expansion point,
              residuals of a random subset, empirical Bernstein bound with Y = 5.31)
Times are seconds a scan (20 values). The prior of the first state is centred off the truth, on a
draw from itself. RMSE is of the posterior mean, over the position coordinates of all targets.
"""
from common import arg, report, THREADS
import math
import time
import numba
import numpy as np
from numba import njit, prange

IMPL, SEED = arg("impl", "numba"), arg("seed", 1, int)
N, NB, T = arg("n", 4000, int), arg("nb", 1000, int), arg("t", 20, int)
LX, LC, AREA, SX2, SDR = 1500.0, 4000.0, 4e4, 0.25, 0.1
BG, C0 = LC / AREA, LX / (2 * math.pi)
R = 3
Y, DELTA, PS, GAMMA = 5.31, 0.1, 2.0, 1.2
P0 = np.array([1.0, 1.0, 0.5, 0.5])  # sd of the first state
Q = SX2 * np.array([[1 / 3, 0, 1 / 2, 0], [0, 1 / 3, 0, 1 / 2], [1 / 2, 0, 1, 0], [0, 1 / 2, 0, 1]])
LQ = np.linalg.cholesky(Q)
# Rows of LQ for one axis (position, velocity), and of Q^-1: [[12,-6],[-6,4]] / SX2.
L00, L10, L11 = LQ[0, 0], LQ[2, 0], LQ[2, 2]


def simulate(rng):
    start = np.array([[-60.0, -40, 3, 2], [0, 50, -1, -3], [55, -20, -2, 2]])
    x = start + P0 * rng.standard_normal((R, 4))
    xs, zs = [], []
    for _ in range(T):
        x = x + np.concatenate([x[:, 2:], np.zeros((R, 2))], 1) + rng.standard_normal((R, 4)) @ LQ.T
        pts = [x[r, :2] + rng.standard_normal((rng.poisson(LX), 2)) for r in range(R)]
        pts.append(rng.uniform(-100, 100, (rng.poisson(LC), 2)))
        z = rng.permutation(np.concatenate(pts))
        xs.append(x)
        zs.append((np.ascontiguousarray(z[:, 0]), np.ascontiguousarray(z[:, 1])))
    return start, np.array(xs), zs


FAST, BLOCK = IMPL == "numba_fast", 16
PAR = FAST or IMPL == "numba" and THREADS > 1  # FAST: prange also vectorises better
rng_ = prange if PAR else range


@njit(fastmath=True)
def logp(x, f):
    """log p(x | f) of one target, without its constant; f is the previous state."""
    s = 0.0
    for c in range(2):
        a, b = x[c] - f[c] - f[c + 2], x[c + 2] - f[c + 2]
        s += 12 * a * a - 12 * a * b + 4 * b * b
    return -0.5 * s / SX2


@njit(fastmath=True)
def draw(f, x):
    for c in range(2):
        e, g = np.random.randn(), np.random.randn()
        x[c] = f[c] + f[c + 2] + L00 * e
        x[c + 2] = f[c + 2] + L10 * e + L11 * g


@njit(fastmath=True)
def vexp(v):
    """exp(v), v <= 0, without a call: 2^n times a polynomial, to about 1e-15."""
    v = max(v, -700.0)
    n = math.floor(v * 1.4426950408889634 + 0.5)
    r = v - n * 0.6931471805599453
    p = 1.0
    for k in (12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0):
        p = 1.0 + p * r * (1.0 / k)
    return p * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@njit(fastmath=True, parallel=PAR)
def full_loglik(zx, zy, x, w):
    """Sum over points of log(clutter + targets); fills w, the term of each target at each point."""
    s = 0.0
    if FAST:
        px, py = (x[0, 0], x[1, 0], x[2, 0]), (x[0, 1], x[1, 1], x[2, 1])
        w0, w1, w2 = w[0], w[1], w[2]
        for k in rng_((len(zx) + BLOCK - 1) // BLOCK):
            p = 1.0
            for i in range(k * BLOCK, min((k + 1) * BLOCK, len(zx))):
                a, b = zx[i] - px[0], zy[i] - py[0]
                t0 = C0 * vexp(-0.5 * (a * a + b * b))
                a, b = zx[i] - px[1], zy[i] - py[1]
                t1 = C0 * vexp(-0.5 * (a * a + b * b))
                a, b = zx[i] - px[2], zy[i] - py[2]
                t2 = C0 * vexp(-0.5 * (a * a + b * b))
                w0[i], w1[i], w2[i] = t0, t1, t2
                p *= BG + t0 + t1 + t2
            s += math.log(p)
        return s
    for i in rng_(len(zx)):
        g = BG
        for r in range(R):
            a, b = zx[i] - x[r, 0], zy[i] - x[r, 1]
            t = C0 * math.exp(-0.5 * (a * a + b * b))
            w[r, i] = t
            g += t
        s += math.log(g)
    return s


@njit(fastmath=True, parallel=PAR)
def one_loglik(zx, zy, px, py, w1, w2, new):
    """The same with one target moved to (px, py); w1, w2 are the others' terms."""
    s = 0.0
    if FAST:
        for k in rng_((len(zx) + BLOCK - 1) // BLOCK):
            p = 1.0
            for i in range(k * BLOCK, min((k + 1) * BLOCK, len(zx))):
                a, b = zx[i] - px, zy[i] - py
                t = C0 * vexp(-0.5 * (a * a + b * b))
                new[i] = t
                p *= BG + t + w1[i] + w2[i]
            s += math.log(p)
        return s
    for i in rng_(len(zx)):
        a, b = zx[i] - px, zy[i] - py
        t = C0 * math.exp(-0.5 * (a * a + b * b))
        new[i] = t
        s += math.log(BG + t + w1[i] + w2[i])
    return s


@njit(fastmath=True)
def smcmc_scan(zx, zy, prev, n, nb):
    m = len(zx)
    w, wn, new = np.empty((R, m)), np.empty((R, m)), np.empty(m)
    x, xn, cand = np.empty((R, 4)), np.empty((R, 4)), np.empty(4)
    out, acc = np.empty((n, R, 4)), np.zeros(3)
    a = np.random.randint(len(prev))
    for r in range(R):
        draw(prev[a, r], x[r])
    ll = full_loglik(zx, zy, x, w)
    for k in range(n + nb):
        b = np.random.randint(len(prev))
        for r in range(R):
            draw(prev[b, r], xn[r])
        ln = full_loglik(zx, zy, xn, wn)
        if math.log(np.random.random()) < ln - ll:
            x, xn, w, wn, ll, a = xn, x, wn, w, ln, b
            acc[0] += 1
        b, d = np.random.randint(len(prev)), 0.0
        for r in range(R):
            d += logp(x[r], prev[b, r]) - logp(x[r], prev[a, r])
        if math.log(np.random.random()) < d:
            a = b
            acc[1] += 1
        for r in range(R):
            for c in range(4):
                cand[c] = x[r, c] + SDR * np.random.randn()
            ln = one_loglik(zx, zy, cand[0], cand[1], w[(r + 1) % R], w[(r + 2) % R], new)
            d = ln - ll + logp(cand, prev[a, r]) - logp(x[r], prev[a, r])
            if math.log(np.random.random()) < d:
                x[r] = cand
                w[r] = new
                ll = ln
                acc[2] += 1.0 / R
        if k >= nb:
            out[k - nb] = x
    return out, acc / (n + nb), np.ones(2)


@njit(fastmath=True)
def expand(zx, zy, xp, gx, gy, gbar):
    """Gradient of each point's log density at xp, and its mean over the points."""
    m = len(zx)
    gbar[:] = 0
    t = np.empty(R)
    for i in range(m):
        g = BG
        for r in range(R):
            a, b = zx[i] - xp[r, 0], zy[i] - xp[r, 1]
            t[r] = C0 * math.exp(-0.5 * (a * a + b * b))
            g += t[r]
        for r in range(R):
            gx[i, r] = t[r] / g * (zx[i] - xp[r, 0])
            gy[i, r] = t[r] / g * (zy[i] - xp[r, 1])
            gbar[r, 0] += gx[i, r] / m
            gbar[r, 1] += gy[i, r] / m


@njit(fastmath=True)
def decide(zx, zy, x, xn, lo, hi, xp, gx, gy, gbar, w, stamp, ver, perm, psi):
    """Algorithm 3: (accept, points used). x and xn differ in targets lo..hi-1. w and stamp keep
    the terms of the current state, valid where the stamp is the target's version."""
    m = len(zx)
    d0, d1, wp = 0.0, 0.0, 0.0
    dx = np.zeros((R, 2))
    for r in range(R):
        for c in range(2):
            d0 += (x[r, c] - xp[r, c]) ** 2
            d1 += (xn[r, c] - xp[r, c]) ** 2
            dx[r, c] = xn[r, c] - x[r, c]
            wp += gbar[r, c] * dx[r, c]
    rb = Y * (d0 + d1)
    used, b, rounds, s1, s2 = 0, 1, 0, 0.0, 0.0
    while True:
        rounds += 1
        while used < b:
            j = used + np.random.randint(m - used)
            i = perm[j]
            perm[j], perm[used] = perm[used], i
            used += 1
            g0, g1, pr = BG, BG, 0.0
            for r in range(R):
                if stamp[i, r] != ver[r]:
                    p, q = zx[i] - x[r, 0], zy[i] - x[r, 1]
                    w[i, r] = C0 * math.exp(-0.5 * (p * p + q * q))
                    stamp[i, r] = ver[r]
                g0 += w[i, r]
                if lo <= r < hi:
                    p, q = zx[i] - xn[r, 0], zy[i] - xn[r, 1]
                    g1 += C0 * math.exp(-0.5 * (p * p + q * q))
                    pr += gx[i, r] * dx[r, 0] + gy[i, r] * dx[r, 1]
                else:
                    g1 += w[i, r]
            d = math.log(g1 / g0) - pr
            s1 += d
            s2 += d * d
        mean = s1 / used
        v = max(s2 / used - mean * mean, 0.0)
        lg = math.log(3 * PS * rounds ** PS / ((PS - 1) * DELTA))
        c = math.sqrt(2 * v * lg / used) + 3 * rb * lg / used
        if abs(mean + wp - psi) >= c or used == m:
            return mean + wp > psi, used
        b = min(m, int(math.ceil(GAMMA * used)))


@njit(fastmath=True)
def as_scan(zx, zy, prev, n, nb):
    m = len(zx)
    w, stamp, ver = np.empty((m, R)), np.zeros((m, R), np.int64), np.ones(R, np.int64)
    perm = np.arange(m)
    x, xn = np.empty((R, 4)), np.empty((R, 4))
    xp, gx, gy, gbar = np.zeros((R, 4)), np.empty((m, R)), np.empty((m, R)), np.empty((R, 2))
    half = np.zeros((R, 4))
    out, acc, frac = np.empty((n, R, 4)), np.zeros(3), np.zeros(2)
    # Expansion point: mean of the prediction, then a few mean-shift steps on the points.
    for j in range(len(prev)):
        for r in range(R):
            for c in range(2):
                xp[r, c] += (prev[j, r, c] + prev[j, r, c + 2]) / len(prev)
    for _ in range(3):
        for r in range(R):
            sw, sx, sy = 0.0, 0.0, 0.0
            for i in range(m):
                p, q = zx[i] - xp[r, 0], zy[i] - xp[r, 1]
                t = C0 * math.exp(-0.5 * (p * p + q * q))
                t /= BG + t
                sw += t
                sx += t * zx[i]
                sy += t * zy[i]
            xp[r, 0], xp[r, 1] = sx / sw, sy / sw
    expand(zx, zy, xp, gx, gy, gbar)
    a = np.random.randint(len(prev))
    for r in range(R):
        draw(prev[a, r], x[r])
    for k in range(n + nb):
        b = np.random.randint(len(prev))
        for r in range(R):
            draw(prev[b, r], xn[r])
        ok, used = decide(zx, zy, x, xn, 0, R, xp, gx, gy, gbar, w, stamp, ver, perm,
                          math.log(np.random.random()) / m)
        frac[0] += used / m
        if ok:
            x[:] = xn
            ver += 1
            a = b
            acc[0] += 1
        b, d = np.random.randint(len(prev)), 0.0
        for r in range(R):
            d += logp(x[r], prev[b, r]) - logp(x[r], prev[a, r])
        if math.log(np.random.random()) < d:
            a = b
            acc[1] += 1
        for r in range(R):
            xn[:] = x
            for c in range(4):
                xn[r, c] += SDR * np.random.randn()
            psi = (math.log(np.random.random()) - logp(xn[r], prev[a, r]) + logp(x[r], prev[a, r])) / m
            ok, used = decide(zx, zy, x, xn, r, r + 1, xp, gx, gy, gbar, w, stamp, ver, perm, psi)
            frac[1] += used / m / R
            if ok:
                x[r] = xn[r]
                ver[r] += 1
                acc[2] += 1.0 / R
        if nb // 2 <= k < nb:  # second half of the burn-in: the chain has arrived
            half += x / (nb - nb // 2)
        if k == nb - 1:
            xp[:] = half
            expand(zx, zy, xp, gx, gy, gbar)
        if k >= nb:
            out[k - nb] = x
    return out, acc / (n + nb), frac / (n + nb)


def numpy_scan(zx, zy, prev, n, nb, rng):
    m = len(zx)
    w, wn, new = np.empty((R, m)), np.empty((R, m)), np.empty(m)
    b1, b2 = np.empty(m), np.empty(m)
    P = prev.tolist()

    def term(px, py, o):
        np.subtract(zx, px, out=b1)
        np.multiply(b1, b1, out=b1)
        np.subtract(zy, py, out=b2)
        np.multiply(b2, b2, out=b2)
        b1.__iadd__(b2)
        b1.__imul__(-0.5)
        np.exp(b1, out=o)
        o *= C0

    def total(u, v, t):
        np.add(u, v, out=b1)
        b1.__iadd__(t)
        b1.__iadd__(BG)
        np.log(b1, out=b1)
        return float(b1.sum())

    def sample(f, e):
        return [f[0] + f[2] + L00 * e[0], f[1] + f[3] + L00 * e[1],
                f[2] + L10 * e[0] + L11 * e[2], f[3] + L10 * e[1] + L11 * e[3]]
    lp = logp.py_func
    out, acc = np.empty((n, R, 4)), np.zeros(3)
    a = int(rng.integers(len(P)))
    x = [sample(P[a][r], rng.standard_normal(4)) for r in range(R)]
    for r in range(R):
        term(x[r][0], x[r][1], w[r])
    ll = total(*w)
    steps = n + nb
    E, Z = rng.standard_normal((steps, R, 4)).tolist(), (SDR * rng.standard_normal((steps, R, 4))).tolist()
    U, I = np.log(rng.random((steps, R + 2))).tolist(), rng.integers(0, len(P), (steps, 2)).tolist()
    for k in range(steps):
        b = I[k][0]
        xn = [sample(P[b][r], E[k][r]) for r in range(R)]
        for r in range(R):
            term(xn[r][0], xn[r][1], wn[r])
        ln = total(*wn)
        if U[k][0] < ln - ll:
            x, w, wn, ll, a = xn, wn, w, ln, b
            acc[0] += 1
        b = I[k][1]
        if U[k][1] < sum(lp(x[r], P[b][r]) - lp(x[r], P[a][r]) for r in range(R)):
            a = b
            acc[1] += 1
        for r in range(R):
            cand = [u + v for u, v in zip(x[r], Z[k][r])]
            term(cand[0], cand[1], new)
            ln = total(w[(r + 1) % R], w[(r + 2) % R], new)
            if U[k][2 + r] < ln - ll + lp(cand, P[a][r]) - lp(x[r], P[a][r]):
                x[r], ll = cand, ln
                w[r] = new
                acc[2] += 1 / R
        if k >= nb:
            out[k - nb] = x
    return out, acc / steps, np.ones(2)


@njit
def seed_numba(s):
    np.random.seed(s)


start, truth, zs = simulate(np.random.default_rng(0))
rng = np.random.default_rng(SEED)
scan = {"numba": smcmc_scan, "numba_fast": smcmc_scan, "as": as_scan}.get(IMPL) or (
    lambda zx, zy, prev, n, nb: numpy_scan(zx, zy, prev, n, nb, rng))
seed_numba(SEED)
prev = start + P0 * rng.standard_normal((N, R, 4))
t0 = time.perf_counter()
scan(*zs[0], prev, 10, 4)  # compiles
first = time.perf_counter() - t0
times, means, acc, frac, spread = [], [], [], [], []
for k in range(T):
    t0, c0 = time.perf_counter(), time.process_time()
    prev, a, s = scan(*zs[k], prev, N, NB)
    times.append((time.perf_counter() - t0, time.process_time() - c0))
    means.append(prev.mean(0))
    spread.append(prev[..., :2].std(0).mean())
    acc.append(a)
    frac.append(s)
frac = np.mean(frac, 0)
err = np.array(means)[..., :2] - truth[..., :2]
acc = np.mean(acc, 0)
report("smcmc-clutter", IMPL, numba.__version__ if IMPL != "numpy" else np.__version__, times, first,
       ("chain_steps_per_s", N + NB), n=N, burn_in=NB, scans=T, points_mean=float(np.mean([len(z[0]) for z in zs])),
       wall_mean_s=float(np.mean([w for w, _ in times])), rmse=float(np.sqrt((err ** 2).mean())),
       posterior_sd=float(np.mean(spread)), accept_joint=acc[0], accept_previous=acc[1],
       accept_current=acc[2], subset_fraction=float((frac[0] + R * frac[1]) / (1 + R)),
       subset_joint=frac[0], subset_current=frac[1])
