package nn

import "github.com/starling-smc/starling/internal/config"

// Likelihoods lists the likelihoods by their names in a config. A likelihood is added by its file and a row here.
var Likelihoods = config.Table[Likelihood]{
	{Name: "categorical", Part: Categorical{}},
	{Name: "bernoulli", Part: Bernoulli{}},
	{Name: "gaussian", Part: Gaussian{}},
	{Name: "student", Part: Student{}},
}

// LikelihoodsWhere lists the names of the likelihoods of numbers, or of those of classes.
func LikelihoodsWhere(regression bool) (names []string) {
	for _, row := range Likelihoods {
		if row.Part.Regression() == regression {
			names = append(names, row.Name)
		}
	}
	return names
}
