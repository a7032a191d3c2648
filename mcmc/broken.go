package mcmc

import "fmt"

// Broken says which parameter is the first that is NaN or infinite, by its name if the model has one: "parameter 3 (2.weight[0, 1]) of
// particle 0 became NaN". It is empty if all are finite.
func (p *Population) Broken(model Model) string {
	for i, x := range p.Theta {
		if !isFinite(x) {
			return fmt.Sprintf("parameter %d%s of particle %d became %v", i%p.D, name(model, i%p.D), i/p.D, x)
		}
	}
	return ""
}

// Named is a Model with a name for every parameter.
type Named interface{ Name(i int) string }

// name returns the model's name of coordinate i, in brackets; empty if it has none.
func name(model Model, i int) string {
	if named, ok := model.(Named); ok {
		return " (" + named.Name(i) + ")"
	}
	return ""
}
