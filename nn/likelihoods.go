package nn

import "github.com/starling-smc/starling/internal/config"

// Likelihoods lists the likelihoods by their names in a config. A likelihood is added by its file and a row here.
var Likelihoods = config.Table[Likelihood]{
	{Name: "categorical", Part: Categorical{}},
	{Name: "bernoulli", Part: Bernoulli{}},
	{Name: "gaussian", Part: Gaussian{}},
}
