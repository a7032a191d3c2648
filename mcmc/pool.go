package mcmc

import "github.com/starling-smc/starling/internal/pool"

// Pool bounds the threads that models and samplers given the same pool use together. Its method Run(n, task) runs task(0) …
// task(n−1) on them; a task may call Run again. Results do not depend on the number of threads if tasks write to separate memory.
type Pool = pool.Pool

// NewPool returns a pool of the given number of threads; 0 means one for each CPU.
func NewPool(threads int) *Pool { return pool.New(threads) }
