"""Log evidence by adaptive tempered SMC of smcx and BlackJAX, on the regressions of bench/evidence, whose evidence is known:

    go run ./bench/evidence -problems problems.json
    python evidence_jax.py --problems problems.json --d 50 --impl smcx,hmc --n 300 --evaluations 228000 --runs 40

--impl smcx         smcx.temper by default: random walks with 2.38²/D times the weighted covariance of the particles
       walk         BlackJAX: random walks with the covariance of the particles, times a factor for each that follows acceptance (.234)
       hmc          BlackJAX: HMC with the variances of the particles, and steps that follow acceptance (.65)
       hmc-dense    the same with the covariance of the particles
--d            parameters of the problem
--n            particles
--moves        moves of a stage; 0, the default: about the fewest whose evaluations are at least --evaluations, on average over runs
--evaluations  of a run, likelihoods and gradients alike: a gradient comes with its likelihood, and counts once
--l            leapfrogs of a move of HMC on average: they are uniform on 1 to 2l − 1, as in BlackJAX's dynamic_hmc, since trajectories
               of one length come back to where they began on a target that its scale has made round
--runs         runs, each with a seed of its own

BlackJAX is tuned as its documentation tunes inner kernels: by the particles of the stage before, from blackjax.smc.tuning. The
temperatures halve the effective sample size, which is the default of smcx and what BlackJAX's examples take.
"""
from common import arg, report
import json
import math
import os
import tempfile
import time

import blackjax
import blackjax.smc.resampling as resampling
import jax
import jax.numpy as jnp
import numpy as np
import smcx
from blackjax.smc import adaptive_tempered, extend_params
from blackjax.smc.tuning.from_kernel_info import update_scale_from_acceptance_rate
from blackjax.smc.tuning.from_particles import inverse_mass_matrix_from_particles, particles_covariance_matrix

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", os.path.join(tempfile.gettempdir(), "evidence_jax"))  # smcx compiles in every run
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)

N, L, LEAST, RUNS = arg("n", 300, int), arg("l", 5, int), arg("evaluations", 0, int), arg("runs", 40, int)
with open(arg("problems", "problems.json")) as f:
    PROBLEM = next(p for p in json.load(f) if p["D"] == arg("d", 20, int))
D, EXACT = PROBLEM["D"], PROBLEM["LogZ"]
P, B, C = jnp.array(PROBLEM["Precision"]).reshape(D, D), jnp.array(PROBLEM["B"]), PROBLEM["C"]


def log_prior(x):
    return -0.5 * (x @ x) - 0.5 * D * math.log(2 * math.pi)


def log_likelihood(x):
    return C + x @ (B - 0.5 * (P @ x))


def by_smcx(moves):
    """A run of smcx: log Z, stages, gradients, likelihoods."""
    def run(seed):
        got = smcx.temper(jax.random.key(seed), lambda key, n: jax.random.normal(key, (n, D)), log_prior, log_likelihood, N,
                          num_mcmc_steps=moves)
        stages = len(got.temperatures)
        return float(got.marginal_loglik), stages, 0, N * (1 + stages * moves)
    return run


def by_blackjax(impl, moves):
    """A run of BlackJAX: the same."""
    if impl == "walk":
        walk = blackjax.mcmc.random_walk.build_additive_step()

        def move(key, state, density, factor, scale):
            return walk(key, state, density, lambda key, x: scale * (factor @ jax.random.normal(key, x.shape)))

        init, target, first = blackjax.rmh.init, 0.234, 2.38 / D ** 0.5
        learn = lambda x: {"factor": jnp.linalg.cholesky(particles_covariance_matrix(x))}
    else:
        hmc = blackjax.hmc.build_kernel()

        def move(key, state, density, inverse_mass_matrix, scale):
            key, steps_key = jax.random.split(key)
            return hmc(key, state, density, scale, inverse_mass_matrix, jax.random.randint(steps_key, (), 1, 2 * L))

        init, target, first = blackjax.hmc.init, 0.65, D ** -0.25
        covariance = inverse_mass_matrix_from_particles if impl == "hmc" else particles_covariance_matrix
        learn = lambda x: {"inverse_mass_matrix": covariance(x)}
    stage = adaptive_tempered.build_kernel(log_prior, log_likelihood, move, init, resampling.systematic, 0.5)

    @jax.jit
    def step(key, state, scales):
        state_, info = stage(key, state, moves, {**extend_params(learn(state.particles)), "scale": scales})
        rates = info.update_info.acceptance_rate.mean(1)
        steps = 0 if impl == "walk" else info.update_info.num_integration_steps.sum()
        return state_, info.log_likelihood_increment, update_scale_from_acceptance_rate(scales, rates, target), steps

    def run(seed):
        key, first_key = jax.random.split(jax.random.key(seed))
        state = adaptive_tempered.init(jax.random.normal(first_key, (N, D)))._replace(tempering_param=jnp.zeros(()))  # to compile once
        scales, log_z, stages, leapfrogs = jnp.full(N, first), 0.0, 0, 0
        while state.tempering_param < 1:
            key, step_key = jax.random.split(key)
            state, increment, scales, steps = step(step_key, state, scales)
            log_z, stages, leapfrogs = log_z + float(increment), stages + 1, leapfrogs + int(steps)
        if impl == "walk":
            return log_z, stages, 0, stages * N * (3 + moves)  # the first density of a stage, its temperature, its weights
        return log_z, stages, stages * N + leapfrogs, stages * N * 2  # a gradient and a density of each particle before its moves
    return run


def several(impl, moves, seeds):
    run = by_smcx(moves) if impl == "smcx" else by_blackjax(impl, moves)
    out, times = [], []
    for seed in seeds:
        t0, c0 = time.perf_counter(), time.process_time()
        out.append(run(seed))
        times.append((time.perf_counter() - t0, time.process_time() - c0))
    return np.array(out), times


def evaluations(out):
    return out[:, 2:].sum(1).mean()


for impl in arg("impl", "smcx").split(","):
    moves, pilot = arg("moves", 0, int), 5
    if moves == 0:
        for seed in (10 ** 6, 10 ** 6 + 1):
            moves = pilot = max(1, math.ceil(pilot * 1.02 * LEAST / evaluations(several(impl, pilot, [seed])[0])))
    out, times = several(impl, moves, range(1, 1 + RUNS))
    while evaluations(out) < LEAST:
        moves += 1
        out, times = several(impl, moves, range(1, 1 + RUNS))
    error = out[:, 0] - EXACT
    report("evidence", impl, (smcx if impl == "smcx" else blackjax).__version__, times, d=D, n=N, moves=moves,
           leapfrogs=L if impl.startswith("hmc") else 0, runs=RUNS, stages=out[:, 1].mean(), gradients=out[:, 2].mean(),
           likelihoods=out[:, 3].mean(), logz_minus_exact=error.mean(), standard_error=error.std(ddof=1) / RUNS ** 0.5,
           sd=error.std(ddof=1), exact=EXACT, jax=jax.__version__)
