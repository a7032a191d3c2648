package starling

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/nn"
)

// decoder turns nodes into a Spec. It collects every fault rather than stopping at the first, and remembers where each
// field was set, so that a value that turns out impossible later can still be pointed at.
type decoder struct {
	faults []fault
	places map[string]place
}

func (d *decoder) fault(n *node, path, format string, args ...any) {
	d.faults = append(d.faults, fault{n.place, path, fmt.Sprintf(format, args...)})
}

// formed is a field with a form of its own in a config (a name or a number or a table).
type formed interface {
	decode(d *decoder, path string, n *node)
	encode() *node
}

// decode sets v, a settable field, from n. Struct fields are found by their yaml tag.
func (d *decoder) decode(path string, v reflect.Value, n *node) {
	d.places[path] = n.place
	if v.CanAddr() {
		switch f := v.Addr().Interface().(type) {
		case formed:
			f.decode(d, path, n)
			return
		case *[]nn.Layer:
			*f = d.layers(path, n)
			return
		case *nn.Likelihood:
			*f = d.likelihood(path, n)
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(path, v.Elem(), n)
	case reflect.Struct:
		var fields []field
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fields = append(fields, field{tag(f), v.Field(i).Addr().Interface()})
			}
		}
		d.table(path, n, fields...)
	case reflect.Slice:
		if !n.list {
			d.fault(n, path, "want a list, as in [1, 28, 28], have %s", n.kind())
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
		for i, item := range n.items {
			d.decode(join(path, fmt.Sprint(i)), v.Index(i), item)
		}
	case reflect.Bool:
		b, ok := n.scalar.(bool)
		if !ok {
			d.fault(n, path, "want true or false, have %s", n.kind())
		}
		v.SetBool(b)
	case reflect.Int:
		v.SetInt(int64(d.whole(path, n)))
	case reflect.Uint64:
		if u, ok := n.scalar.(uint64); ok {
			v.SetUint(u)
		} else {
			d.fault(n, path, "want a whole number from 0, have %s", n.kind())
		}
	case reflect.Float64:
		v.SetFloat(d.number(path, n))
	case reflect.String:
		if s, ok := n.scalar.(string); ok {
			v.SetString(s)
		} else if u, ok := n.scalar.(uint64); ok { // a column's number, a name of digits
			v.SetString(fmt.Sprint(u))
		} else {
			d.fault(n, path, "want a name, have %s", n.kind())
		}
	default:
		panic(fmt.Sprintf("no form for a field of type %s", v.Type()))
	}
}

// field is a key that a table may have, and the pointer that its value goes to.
type field struct {
	name string
	into any
}

// table decodes a table with the given keys and reports whether n was one; any other key is a fault.
func (d *decoder) table(path string, n *node, fields ...field) bool {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	if !n.table {
		d.fault(n, path, "want a mapping of %s, have %s", strings.Join(known, ", "), n.kind())
		return false
	}
	for i, k := range n.keys {
		f := slices.Index(known, k.name)
		if f < 0 {
			d.unknown(k, "key", path, known)
			continue
		}
		d.decode(join(path, k.name), reflect.ValueOf(fields[f].into).Elem(), n.items[i])
	}
	return true
}

// unknown is the fault of a name that is none of the known.
func (d *decoder) unknown(k key, what, path string, known []string) {
	d.faults = append(d.faults, fault{k.place, path, fmt.Sprintf("unknown %s %q%s (known: %s)",
		what, k.name, spelling.Suggest(k.name, known), strings.Join(known, ", "))})
}

func (d *decoder) whole(path string, n *node) int {
	v, ok := asNumber(n)
	if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		d.fault(n, path, "want a whole number, have %s", n.kind())
		return 0
	}
	return int(v)
}

func (d *decoder) number(path string, n *node) float64 {
	v, ok := asNumber(n)
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		d.fault(n, path, "want a number, have %s", n.kind())
		return 0
	}
	return v
}

func asNumber(n *node) (float64, bool) {
	switch v := n.scalar.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// encode is the inverse of decode, for a pointer to a field.
func encode(v reflect.Value) *node {
	switch f := v.Interface().(type) {
	case formed:
		return f.encode()
	case *[]nn.Layer:
		return encodeLayers(*f)
	}
	switch v.Kind() {
	case reflect.Pointer:
		return encode(v.Elem())
	case reflect.Interface:
		return encodeLikelihood(v.Interface().(nn.Likelihood))
	case reflect.Struct:
		out := &node{table: true}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || v.Field(i).IsZero() && strings.HasSuffix(f.Tag.Get("yaml"), ",omitempty") {
				continue
			}
			out.put(key{name: tag(f)}, encode(v.Field(i).Addr()))
		}
		return out
	case reflect.Slice:
		out := &node{list: true}
		for i := range v.Len() {
			out.items = append(out.items, encode(v.Index(i)))
		}
		return out
	}
	return &node{scalar: v.Interface()}
}

// table makes a table of scalars.
func table(fields ...field) *node {
	out := &node{table: true}
	for _, f := range fields {
		out.put(key{name: f.name}, &node{scalar: f.into})
	}
	return out
}

func tag(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (k *Keep) decode(d *decoder, path string, n *node) {
	if *k = KeepLast; n.scalar != "last" {
		*k = Keep(d.whole(path, n))
		if *k < 0 {
			d.fault(n, path, "want a number of states or last, have %s", n.kind())
		}
	}
}

func (k *Keep) encode() *node {
	if *k == KeepLast {
		return &node{scalar: "last"}
	}
	return &node{scalar: int(*k)}
}

func (s *Step) decode(d *decoder, path string, n *node) {
	if n.scalar == "adapted" {
		delete(d.places, path) // as if left out
		return
	}
	if _, ok := n.scalar.(string); ok {
		d.fault(n, path, "want a number or adapted, have %s", n.kind())
		return
	}
	*s = Step(d.number(path, n))
}

func (s *Step) encode() *node {
	if *s == 0 {
		return &node{scalar: "adapted"}
	}
	return &node{scalar: float64(*s)}
}

func (m *Mutations) decode(d *decoder, path string, n *node) {
	if !n.table {
		m.N = d.whole(path, n)
		return
	}
	d.table(path, n, field{"eta", &m.Eta}, field{"max", &m.Max})
}

func (m *Mutations) encode() *node {
	if m.N > 0 {
		return &node{scalar: m.N}
	}
	return table(field{"eta", m.Eta}, field{"max", m.Max})
}

func (w *When) decode(d *decoder, path string, n *node) {
	switch rule, _ := n.scalar.(string); {
	case rule == "always" || rule == "never":
		w.Rule = rule
	case !n.table:
		d.fault(n, path, "want always, never or {ess: 0.5}, have %s", n.kind())
	default:
		d.table(path, n, field{"ess", &w.ESS})
	}
}

func (w *When) encode() *node {
	if w.Rule != "" {
		return &node{scalar: w.Rule}
	}
	return table(field{"ess", w.ESS})
}

func (m *Method) decode(d *decoder, path string, n *node) {
	if word, ok := n.scalar.(string); ok {
		if m.AsIs = word == "as-is"; !m.AsIs {
			d.unknown(key{word, n.place}, "method", path, []string{"mcmc", "smc", "as-is"})
		}
		return
	}
	d.table(path, n, field{"mcmc", &m.MCMC}, field{"smc", &m.SMC})
}

func (m *Method) encode() *node {
	n := &node{table: true}
	switch {
	case m.AsIs:
		return &node{scalar: "as-is"}
	case m.MCMC != nil:
		n.put(key{name: "mcmc"}, encode(reflect.ValueOf(m.MCMC)))
	default:
		n.put(key{name: "smc"}, encode(reflect.ValueOf(m.SMC)))
	}
	return n
}

func (g *Groups) decode(d *decoder, path string, n *node) {
	if !n.table {
		d.fault(n, path, "want names and files, as in {noise: noise.npy}, have %s", n.kind())
		return
	}
	for i, k := range n.keys {
		one := Group{Name: k.name}
		d.decode(join(path, k.name), reflect.ValueOf(&one.File).Elem(), n.items[i])
		*g = append(*g, one)
	}
}

func (g *Groups) encode() *node {
	n := &node{table: true}
	for _, one := range *g {
		n.put(key{name: one.Name}, &node{scalar: one.File})
	}
	return n
}
