package method

import (
	"github.com/starling-smc/starling/internal/config"
)

// Methods lists the methods by their names in a config.
var Methods = config.Table[Method]{
	{Name: "map", Part: MAP{}},
	{Name: "ensemble", Part: Ensemble{}},
	{Name: "swa", Part: SWA{}},
	{Name: "swag", Part: SWAG{}},
	{Name: "dropout", Part: Dropout{}},
	{Name: "laplace", Part: Laplace{}},
	{Name: "vi", Part: VI{}},
	{Name: "svgd", Part: SVGD{}},
	{Name: "as-is", Part: AsIs{}},
	{Name: "mcmc", Part: MCMC{}},
	{Name: "smc", Part: SMC{}},
}

// MethodsWhere lists the names of the methods whose needs, before settings are filled in, are such.
func MethodsWhere(such func(Needs) bool) (names []string) {
	for _, row := range Methods {
		if such(row.Part.Needs()) {
			names = append(names, row.Name)
		}
	}
	return names
}
