package starling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-smc/starling/nn"
)

// The forms of a layer in a config: a name (relu), or one kind with its sizes ({dense: 8}, {conv: {filters: 4,
// kernel: 3}}), beside which dense and conv take a name for their tensors ({dense: 120, name: fc1}).

var (
	kinds       = nn.Layers.Names()
	likelihoods = nn.Likelihoods.Names()
)

func (d *decoder) layers(path string, n *node) []nn.Layer {
	if !n.list {
		d.fault(n, path, "want a list of layers, have %s", n.kind())
		return nil
	}
	layers := make([]nn.Layer, len(n.items))
	for i, item := range n.items {
		layers[i] = d.layer(join(path, fmt.Sprint(i)), item)
	}
	return layers
}

// layer decodes one layer; nil if it is at fault.
func (d *decoder) layer(path string, n *node) nn.Layer {
	d.places[path] = n.place
	if word, ok := n.scalar.(string); ok {
		layer, ok := nn.Layers.Find(word)
		switch {
		case !ok:
			d.unknown(key{word, n.place}, "layer", path, kinds)
		case slices.Contains([]string{"dense", "conv", "maxpool", "avgpool"}, word):
			d.fault(n, path, "%s needs its sizes, as in {%s: 8} or {conv: {filters: 4, kernel: 3}}", word, word)
		default:
			return layer
		}
		return nil
	}
	if !n.table || len(n.keys) == 0 {
		d.fault(n, path, "want a layer, as relu or {dense: 8}, have %s", n.kind())
		return nil
	}
	kind := n.keys[0]
	if kind.name == "name" && len(n.keys) > 1 {
		kind = n.keys[1]
	}
	var (
		layer nn.Layer
		name  string
		named = field{"name", &name}
	)
	switch kind.name {
	case "dense":
		v := denseForm{}
		d.table(path, n, field{"dense", &v}, named)
		v.Name = name
		layer = nn.Dense(v)
	case "conv":
		v := convForm{}
		d.table(path, n, field{"conv", &v}, named)
		v.Name = name
		layer = nn.Conv(v)
	case "maxpool":
		v := poolForm{}
		d.table(path, n, field{"maxpool", &v})
		layer = nn.MaxPool(v)
	case "avgpool":
		v := poolForm{}
		d.table(path, n, field{"avgpool", &v})
		layer = nn.AvgPool(v)
	default:
		if slices.Contains(kinds, kind.name) {
			d.fault(n, path, "%s has no sizes: write it as a name", kind.name)
		} else {
			d.unknown(kind, "layer", path, kinds)
		}
	}
	return layer
}

func encodeLayers(layers []nn.Layer) *node {
	list := &node{list: true}
	for _, l := range layers {
		list.items = append(list.items, encodeLayer(l))
	}
	return list
}

func encodeLayer(l nn.Layer) *node {
	one := func(kind string, v formed, name string) *node {
		n := &node{table: true}
		n.put(key{name: kind}, v.encode())
		if name != "" {
			n.put(key{name: "name"}, &node{scalar: name})
		}
		return n
	}
	switch l := l.(type) {
	case nn.Dense:
		return one("dense", (*denseForm)(&l), l.Name)
	case nn.Conv:
		return one("conv", (*convForm)(&l), l.Name)
	case nn.MaxPool:
		return one("maxpool", (*poolForm)(&l), "")
	case nn.AvgPool:
		p := poolForm(l)
		return one("avgpool", &p, "")
	}
	return &node{scalar: nn.Layers.Name(l)}
}

type (
	denseForm nn.Dense
	convForm  nn.Conv
	poolForm  nn.MaxPool
	count     int
	pair      [2]int // height, width: one number for both, or a list
)

func (v *denseForm) decode(d *decoder, path string, n *node) {
	if !n.table {
		v.Units = d.size(path, n, 1)
		return
	}
	bias := true
	d.table(path, n, field{"units", (*count)(&v.Units)}, field{"bias", &bias})
	v.NoBias = !bias
	if n.get("units") == nil {
		d.fault(n, path, "needs units")
	}
}

func (v *denseForm) encode() *node {
	if !v.NoBias {
		return &node{scalar: v.Units}
	}
	return table(field{"units", v.Units}, field{"bias", false})
}

func (v *convForm) decode(d *decoder, path string, n *node) {
	bias := true
	d.table(path, n, field{"filters", (*count)(&v.Filters)}, field{"kernel", (*pair)(&v.Kernel)}, field{"stride", (*pair)(&v.Stride)},
		field{"pad", (*pair)(&v.Pad)}, field{"bias", &bias})
	v.NoBias = !bias
	if n.table && (n.get("filters") == nil || n.get("kernel") == nil) {
		d.fault(n, path, "needs filters and kernel")
	}
	v.Stride = cmp.Or(v.Stride, [2]int{1, 1})
}

func (v *convForm) encode() *node {
	n := table(field{"filters", v.Filters})
	n.put(key{name: "kernel"}, (*pair)(&v.Kernel).encode())
	n.put(key{name: "stride"}, (*pair)(&v.Stride).encode())
	n.put(key{name: "pad"}, (*pair)(&v.Pad).encode())
	n.put(key{name: "bias"}, &node{scalar: !v.NoBias})
	return n
}

func (v *poolForm) decode(d *decoder, path string, n *node) {
	if n.table {
		d.table(path, n, field{"size", (*pair)(&v.Size)}, field{"stride", (*pair)(&v.Stride)}, field{"pad", (*pair)(&v.Pad)})
		if n.get("size") == nil {
			d.fault(n, path, "needs a size")
		}
	} else {
		(*pair)(&v.Size).decode(d, path, n)
	}
	v.Stride = cmp.Or(v.Stride, v.Size)
}

func (v *poolForm) encode() *node {
	if v.Stride == v.Size && v.Pad == [2]int{} {
		return (*pair)(&v.Size).encode()
	}
	n := &node{table: true}
	n.put(key{name: "size"}, (*pair)(&v.Size).encode())
	n.put(key{name: "stride"}, (*pair)(&v.Stride).encode())
	n.put(key{name: "pad"}, (*pair)(&v.Pad).encode())
	return n
}

func (v *count) decode(d *decoder, path string, n *node) { *v = count(d.size(path, n, 1)) }

func (v *count) encode() *node { return &node{scalar: int(*v)} }

func (v *pair) decode(d *decoder, path string, n *node) {
	least := 1
	if strings.HasSuffix(path, ".pad") {
		least = 0
	}
	switch {
	case n.list && len(n.items) == 2:
		v[0], v[1] = d.size(path, n.items[0], least), d.size(path, n.items[1], least)
	case n.list:
		d.fault(n, path, "want a number or [height, width], have a list of %d", len(n.items))
	default:
		v[0] = d.size(path, n, least)
		v[1] = v[0]
	}
}

func (v *pair) encode() *node {
	if v[0] == v[1] {
		return &node{scalar: v[0]}
	}
	return &node{list: true, items: []*node{{scalar: v[0]}, {scalar: v[1]}}}
}

// most bounds the sizes of a layer.
const most = 1 << 20

// size is a whole number from least to most.
func (d *decoder) size(path string, n *node, least int) int {
	if v, ok := asNumber(n); ok && !(v >= float64(least) && v <= most) {
		d.fault(n, path, "want %d to %d, have %s", least, most, n.kind())
		return least
	}
	return d.whole(path, n)
}

func (d *decoder) likelihood(path string, n *node) nn.Likelihood {
	word, _ := n.scalar.(string)
	switch {
	case word == "categorical":
		return nn.Categorical{}
	case word == "bernoulli":
		return nn.Bernoulli{}
	case word == "gaussian":
		d.fault(n, path, "gaussian needs its sd, as in {gaussian: {sd: 1}} or {gaussian: {sd: learned}}")
		return nil
	case word != "":
		d.unknown(key{word, n.place}, "name", path, likelihoods)
		return nil
	}
	var g gaussianForm
	d.table(path, n, field{"gaussian", &g})
	return nn.Gaussian(g)
}

func encodeLikelihood(l nn.Likelihood) *node {
	switch l := l.(type) {
	case nn.Categorical:
		return &node{scalar: "categorical"}
	case nn.Bernoulli:
		return &node{scalar: "bernoulli"}
	case nn.Gaussian:
		n := &node{table: true}
		n.put(key{name: "gaussian"}, (*gaussianForm)(&l).encode())
		return n
	}
	panic(fmt.Sprintf("no form for likelihood %T", l))
}

type gaussianForm nn.Gaussian

func (g *gaussianForm) decode(d *decoder, path string, n *node) {
	if sd := n.get("sd"); sd != nil && sd.scalar == "learned" {
		var word string
		if d.table(path, n, field{"sd", &word}) {
			g.SD = nn.Learned
		}
		return
	}
	d.table(path, n, field{"sd", &g.SD})
	if n.table && !(g.SD > 0) && !d.faulty(path) {
		d.fault(n, path, "want an sd above 0, or learned")
	}
}

func (g *gaussianForm) encode() *node {
	if g.SD == nn.Learned {
		return table(field{"sd", "learned"})
	}
	return table(field{"sd", g.SD})
}
