// Package bnn makes a network Bayesian: priors over its parameters on one side, weighted ensembles of them on the
// other.
//
// A Normal prior is Isotropic or, layer by layer, FanIn; Anchored pulls it to a MAP. Samplers and point methods turn
// prior and likelihood into islands of particles; Combine joins those into an Ensemble, which predicts (Predict,
// PredictValues), is judged (Evaluate), and is written to and read from files that PyTorch reads too (WritePosterior,
// ReadPosterior). ReadWeights takes a network that PyTorch trained.
package bnn
