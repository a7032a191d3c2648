//go:build race

package mcmc

const race = true
