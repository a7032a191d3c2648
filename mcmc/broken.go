package mcmc

import "fmt"

// Diverged is the error of moves that led to where the target has no density, and that nothing refuses: a parameter or the log-likelihood
// is NaN or infinite. It is due to the step and to chance, so another sampler of the same settings may go on.
type Diverged struct{ Err error }

// Error says what became of which particle.
func (e *Diverged) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Diverged) Unwrap() error { return e.Err }

// diverged is a Diverged with an error of fmt.Errorf.
func diverged(format string, args ...any) error { return &Diverged{fmt.Errorf(format, args...)} }

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
