// Package bnn holds priors over the parameters of a network, and weighted ensembles of parameter vectors.
//
// PriorSettings describe the prior in a config. A Normal prior is Isotropic or has a variance for each layer (FanIn);
// Anchored moves it to a MAP estimate. A ScaleMixture learns the width of each tensor. Samplers and point methods turn prior and
// likelihood into islands of particles. Combine joins the islands into an Ensemble, which predicts (Predict, PredictRegression, PredictAmounts), is evaluated (EvaluateClasses,
// EvaluateRegression), and is written to and read from files that PyTorch can read (WritePosterior, ReadPosterior).
// ReadWeights reads a network that PyTorch trained.
//
// Particles may share learned parameters of the network, ψ: an Island and an Ensemble have them in rows beside the particles. What is frozen is
// a constant of the network. Learning is a network's model for samplers that learn ψ, which begins at a draw of DrawShared.
package bnn
