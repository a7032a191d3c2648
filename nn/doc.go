// Package nn computes a neural network as a function of one flat parameter vector θ: outputs, log-likelihood and its
// gradient, for many θ (particles) over any subset of the examples in one call.
//
// A network is described by values (Dense, Conv, ReLU, …) and built by New; NewModel joins it to a data set. Model
// has the method LogLik that samplers and point optimisers need: see the example.
//
// # How it computes
//
// Examples are processed 16 side by side in the lanes of a vector (package internal/lanes), 64 to a tile: a tile goes
// forward and backward while it sits in the cache. New derives the shapes of the layers (builder). The network's first
// model compiles the layers into a program of ops (compiler), each with its forward and backward pass side by side. The
// tables of an op say which vectors to multiply, so that any kernel size, stride and padding runs on the same few
// kernels.
//
// Convolutions, and what stands between them, run a group of 16 examples at a time. Dense layers, and what follows
// them, run a tile at a time; in a network without convolutions they run for many particles at once, which share the
// network's input.
//
// Dropout layers have ops in a second program alone, which training steps run (Model.LogLikSeen). All other calls run the
// program of the network without them.
//
// # Order is part of the result
//
// The examples of a call are cut by their position into tiles of 64 and chunks of 256, the chunks into at most 32
// segments. Sums inside a chunk are float32 in a fixed order; chunks and segments are added in order in float64. The
// pool chooses the thread of each segment: the bits of the result depend neither on the number of threads nor on the
// instruction set.
//
// # Conventions
//
// θ has PyTorch's order: layers in sequence, weight before bias, row-major. Log-likelihoods are sums over the
// examples, in nats; gradients are of the log-likelihood alone, without the prior. Parameters are
// float64 outside and rounded to float32 inside.
package nn
