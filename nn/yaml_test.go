package nn

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
)

// described is a network as a config writes it.
type described struct {
	Layers     []Layer    `yaml:"layers"`
	Likelihood Likelihood `yaml:"likelihood"`
}

// TestYAML reads every layer and likelihood from a config, in all its forms, and compares what is written back: the defaults
// filled in, in the shortest form. A row of the tables without a case fails by name.
func TestYAML(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ layer, want string }{ // want "": the same
		{"{dense: 120}", ""},
		{"{dense: {units: 8, bias: false}}", ""},
		{"{dense: {units: 8, bias: true}}", "{dense: 8}"},
		{"{dense: 120, name: fc1}", ""},
		{"{name: fc1, dense: {units: 2}}", "{dense: 2, name: fc1}"},
		{"{lora: {units: 8, rank: 2, alpha: 4}}", ""},
		{"{lora: {units: 8, rank: 12, alpha: 0.5, full: true, bias: false}, name: head}", ""},
		{"{embed: {tokens: 65, width: 16}, name: tokens}", ""},
		{"{conv: {filters: 4, kernel: 3}}", "{conv: {filters: 4, kernel: 3, stride: 1, pad: 0, bias: true}}"},
		{"{conv: {filters: 4, kernel: [3, 5], stride: [2, 1], pad: 1, bias: false}, name: conv1}", ""},
		{"{maxpool: 2}", ""},
		{"{maxpool: [2, 3]}", ""},
		{"{maxpool: {size: 3, stride: 2}}", "{maxpool: {size: 3, stride: 2, pad: 0}}"},
		{"{avgpool: {size: [2, 3], stride: [2, 3], pad: 0}}", "{avgpool: [2, 3]}"},
		{"{avgpool: {size: 2, stride: 2, pad: 1}}", ""},
		{"frn", ""},
		{"{frn: {tlu: true}}", ""},
		{"{frn: {tlu: false}}", "frn"},
		{"{frn: {tlu: true, eps: 0.001}, name: bn1}", ""},
		{"{frn: {eps: learned}}", ""},
		{"{frn: {}, name: bn1}", ""},
		{"{residual: {body: [{dense: 4}, relu, {dense: 3}]}}", ""},
		{"{residual: {body: [{conv: {filters: 4, kernel: 1}}], shortcut: pad}}", "{residual: {body: [{conv: {filters: 4, kernel: 1, stride: 1, pad: 0, bias: true}}], shortcut: pad}}"},
		{"{residual: {body: [relu], shortcut: [{maxpool: 1}]}}", ""},
		{"{norm: {batch: frozen, eps: 1e-05}}", "{norm: {batch: frozen}}"}, {"{norm: {batch: frozen, eps: 0.001}, name: layer1.0.bn1}", ""},
		{"{dropout: 0.3}", ""}, {"{dropout: 0}", ""},
		{"global_avgpool", ""}, {"flatten", ""}, {"relu", ""}, {"tanh", ""}, {"gelu", ""}, {"swish", ""},
	} {
		got := rewritten(t, "layers: ["+c.layer+"]\nlikelihood: categorical\n", seen)
		want := c.want
		if want == "" {
			want = c.layer
		}
		if same := rewritten(t, "layers: ["+want+"]\nlikelihood: categorical\n", seen); got != same || !strings.Contains(flow(got), flow(want)) {
			t.Errorf("%s is written as\n%swant %s", c.layer, got, want)
		}
	}
	for _, lik := range []string{"categorical", "bernoulli", "{gaussian: {sd: 0.5}}", "{gaussian: {sd: learned}}", "{gaussian: {sd: predicted}}", "{gaussian: {sd: predicted, floor: 0.01}}", "{student: {df: learned, sd: predicted}}", "{student: {df: 4, sd: 0.5}}"} {
		if got := rewritten(t, "layers: [relu]\nlikelihood: "+lik+"\n", seen); !strings.Contains(flow(got), flow(lik)) {
			t.Errorf("%s is written as\n%s", lik, got)
		}
	}
	for _, name := range append(Layers.Names(), Likelihoods.Names()...) {
		if !seen[name] {
			t.Errorf("no case of this test has %s", name)
		}
	}
}

// rewritten parses a config and encodes it again; it notes the names of its parts.
func rewritten(t *testing.T, text string, seen map[string]bool) string {
	t.Helper()
	d, _, err := config.Parse[described]("test.yaml", []byte(text), nil, Layers, Likelihoods)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range d.Layers {
		seen[Layers.Name(l)] = true
		if r, ok := l.(Residual); ok && r.Shortcut != nil {
			seen[Layers.Name(r.Shortcut[0])] = true
		}
	}
	seen[Likelihoods.Name(d.Likelihood)] = true
	text = string(config.Encode(d, Layers, Likelihoods))
	again, _, err := config.Parse[described]("again.yaml", []byte(text), nil, Layers, Likelihoods)
	if err != nil || string(config.Encode(again, Layers, Likelihoods)) != text {
		t.Errorf("written, it is not read as the same: %v\n%s", err, text)
	}
	return text
}

// flow is a text without what flow and block style differ in.
func flow(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n-{},[]", r) }), " ")
}

// TestYAMLFaults checks where a config is wrong and what it is told.
func TestYAMLFaults(t *testing.T) {
	for text, want := range map[string]string{
		"layers: [dense]":                                    "model.layers.0.dense.units: needs a size, 1 to 1048576",
		"layers: [{dense: 4, bias: false}]":                  "model.layers.0.bias: stands inside dense, as in dense: {units: 4, bias: false}",
		"layers: [{dense: 0}]":                               "model.layers.0.dense: needs a size, 1 to 1048576",
		"layers: [{dense: {bias: false}}]":                   "model.layers.0.dense.units: needs a size",
		"layers: [{lora: {units: 3, rank: 0, alpha: 1}}]":    "model.layers.0.lora.rank: want a rank of at least 1, have 0",
		"layers: [{lora: {units: 3, alpha: 1}}]":             "model.layers.0.lora.rank: want a rank of at least 1, have 0",
		"layers: [{lora: {units: 3, rank: 2, alpha: 0}}]":    "model.layers.0.lora.alpha: want a number above 0, have 0: the update is multiplied by alpha/rank, so that alpha: 2 is a factor of 1",
		"layers: [{lora: {units: 3, rank: 2, alpha: .nan}}]": "model.layers.0.lora.alpha: want",
		"layers: [{lora: {units: 3, rank: 2}}]":              "model.layers.0.lora.alpha: want a number above 0",
		"layers: [{lora: {rank: 2, alpha: 1}}]":              "model.layers.0.lora.units: needs a size",
		"layers: [{embed: {tokens: 3}}]":                     "model.layers.0.embed.width: needs a size, 1 to 1048576",
		"layers: [{dense: -3}]":                              "model.layers.0.dense: want 1 to 1048576, have -3",
		"layers: [relu, {conv: {filters: 2}}]":               "model.layers.1.conv.kernel: needs a size",
		"layers: [{maxpool: {pad: 1}}]":                      "model.layers.0.maxpool.size: needs a size, 1 to 1048576",
		"layers: [{frn: {eps: 0}}]":                          "model.layers.0.frn.eps: ",
		"layers: [{frn: {eps: -1}}]":                         "model.layers.0.frn.eps: want a number above 0 or learned, have -1",
		"layers: [{frn: {eps: 2}}]":                          "model.layers.0.frn.eps: want a number from 1e-12 to 1, or learned; have 2",
		"layers: [{frn: {tau: true}}]":                       "model.layers.0.frn: unknown key \"tau\": did you mean \"tlu\"? (known: tlu, eps)",
		`layers: [{dense: 3, name: "a\nb"}]`:                 "model.layers.0.name: \"a\\nb\": want at most 100 bytes",
		"layers: [dropout, {dense: 2}]":                      "model.layers.0: dropout needs its settings, as in {dropout: 0.5}",
		"layers: [{dropout: }, {dense: 2}]":                  "model.layers.0.dropout: is empty: give it settings, as in {dropout: 0.5}",
		"layers: [{dropout: {}}, {dense: 2}]":                "model.layers.0.dropout: want a number",
		"layers: [{dropout: 1}, {dense: 2}]":                 "model.layers.0.dropout: want a rate of at least 0 and below 1, have 1",
		"layers: [{dropout: -0.5}, {dense: 2}]":              "model.layers.0.dropout: want a rate of at least 0 and below 1, have -0.5",
		"layers: [{dropout: .nan}, {dense: 2}]":              "model.layers.0.dropout: want",
		"layers: [rellu]":                                    "relu",
		"layers: [relu]\n  likelihood: gaussian":             "model.likelihood.gaussian: want an sd above 0, learned or predicted",
		"layers: [relu]\n  likelihood: {gaussian: {sd: -3}}": "want an sd above 0, learned or predicted",
		"layers: [relu]\n  likelihood: {gaussian: {sd: -1}}": "model.likelihood.gaussian.sd: want a number, learned or predicted, have -1",
		"layers: [relu]\n  likelihood: {gaussian: {sd: -2}}": "model.likelihood.gaussian.sd: want a number, learned or predicted, have -2",
	} {
		type spec struct {
			Model described `yaml:"model"`
		}
		_, _, err := config.Parse[spec]("test.yaml", []byte("model:\n  "+text+"\n"), nil, Layers, Likelihoods)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
