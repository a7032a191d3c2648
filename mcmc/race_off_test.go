//go:build !race

package mcmc

// race says whether the race detector watches.
const race = false
