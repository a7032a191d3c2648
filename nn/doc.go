// Package nn computes a neural network as a function of one flat parameter vector θ: outputs, log-likelihood and its
// gradient, for many θ (particles) over any subset of the examples in one call.
//
// A network is described by values (Dense, Conv, ReLU, …) and built by New; NewModel joins it to a data set. Model
// has the method LogLik that samplers and point optimisers need: see the example.
//
// # How it computes
//
// Examples are processed 16 side by side in the lanes of a vector (package internal/lanes), 64 to a tile: a tile goes
// forward and backward while it sits in the cache. Every layer is an op with its forward and its backward side by
// side; a network's first model turns its layers into a program of ops whose tables say which vectors to multiply, so
// that any kernel size, stride and padding runs on the same few kernels. Convolution ops run a group of 16 examples at a time, dense
// ops a tile at a time; if the first layer with parameters is dense, it runs for many particles at once, since they
// share its input.
//
// # Order is part of the result
//
// The examples of a call are cut by their position into tiles of 64 and chunks of 256, the chunks into at most 32
// segments. Sums inside a chunk are float32 in a fixed order, chunks and segments are added in order in float64. Who
// computes what is left to the pool: the bits of the result depend neither on the number of threads nor on the
// instruction set.
//
// # Conventions
//
// θ has PyTorch's order: layers in sequence, weight before bias, row-major. Log-likelihoods are sums over the
// examples, in nats; gradients are of the log-likelihood alone (priors are not this package's). Parameters are
// float64 outside and rounded to float32 inside.
package nn
