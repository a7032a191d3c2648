package nn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
)

// Random says which layers of a network are random (RoleRandom). The others are learned. It is one of the words all, first and
// last, alone, or a list of layers: names, or numbers in an nn.Sequential of the layers, which the names of tensors begin with.
// first and last are of the layers with parameters. nil is all.
type Random []string

// The words of Random.
const (
	AllLayers  = "all"
	FirstLayer = "first"
	LastLayer  = "last"
)

// All reports whether every layer is random.
func (r Random) All() bool { return r == nil || len(r) == 1 && r[0] == AllLayers }

// Network is New with the roles that r gives to layers. A fault of r itself is a *RandomError.
func (r Random) Network(input []int, layers []Layer, lik Likelihood) (*Net, error) {
	net, err := New(input, layers, lik)
	if err != nil || r.All() {
		return net, err
	}
	modules, places := net.modules()
	random := map[string]bool{}
	for i, name := range r {
		found, err := r.find(name, modules, places)
		if err != nil {
			return nil, &RandomError{i, err}
		}
		for _, m := range found {
			random[m] = true
		}
	}
	if len(random) == 0 {
		return nil, &RandomError{-1, fmt.Errorf("names no layer, so that nothing is random: take some of %s", listed(modules))}
	}
	if len(random) == len(modules) {
		return nil, &RandomError{-1, fmt.Errorf("names all layers with parameters (%s): leave random out", listed(modules))}
	}
	return NewPartly(input, layers, lik, func(module string) Role {
		if random[module] {
			return RoleRandom
		}
		return RoleLearned
	})
}

// find lists the modules that an entry names, by their names or by their places.
func (r Random) find(name string, modules, places []string) ([]string, error) {
	switch {
	case len(r) > 1:
	case name == FirstLayer:
		return modules[:1], nil
	case name == LastLayer:
		return modules[len(modules)-1:], nil
	}
	var found []string
	for i, m := range modules {
		if within(m, name) || within(places[i], name) {
			found = append(found, m)
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%q is no layer with parameters%s (there are %s)", name, spelling.Suggest(name, modules), listed(modules))
	}
	return found, nil
}

// listed lists modules; of many, the first and the last ones.
func listed(modules []string) string {
	if n := len(modules); n > 12 {
		return fmt.Sprintf("%s, … %s, %d in all", strings.Join(modules[:8], ", "), strings.Join(modules[n-2:], ", "), n)
	}
	return strings.Join(modules, ", ")
}

// within reports whether a module is the named one or stands inside it.
func within(module, name string) bool { return module == name || strings.HasPrefix(module, name+".") }

// RandomError is a fault of an entry of Random, or of all together.
type RandomError struct {
	Entry int // −1: of all
	err   error
}

func (e *RandomError) Error() string { return e.err.Error() }

// field is the field of Random that the fault is in.
func (e *RandomError) field() string {
	if e.Entry < 0 {
		return "random"
	}
	return fmt.Sprint("random.", e.Entry)
}

// modules lists the layers with parameters, as the names of their tensors begin, in order, and their places.
func (n *Net) modules() (names, places []string) {
	for _, t := range n.tensors {
		if t.Layer < 0 {
			continue
		}
		if name := t.module(); !slices.Contains(names, name) {
			names, places = append(names, name), append(places, t.Place)
		}
	}
	return names, places
}

// module is what the name of a layer's tensor begins with.
func (t Tensor) module() string { return t.Name[:strings.LastIndexByte(t.Name, '.')] }
