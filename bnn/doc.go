// Package bnn makes a network Bayesian: priors over its parameters on one side, weighted ensembles of them on the
// other.
//
// PriorSettings are the prior as a config has it. A Normal prior is Isotropic or has a variance for each layer (FanIn);
// Anchored moves it to a MAP estimate. Samplers and point methods turn prior and likelihood into islands of particles.
// Combine joins the islands into an Ensemble, which predicts (Predict, PredictRegression), is evaluated (EvaluateClasses,
// EvaluateRegression), and is written to and read from files that PyTorch reads, too (WritePosterior, ReadPosterior).
// ReadWeights reads a network that PyTorch trained.
package bnn
