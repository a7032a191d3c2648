package smc

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/mcmc"
	"github.com/starling-smc/starling/nn"
)

// settings are a sampler's parts as a config has them.
type settings struct {
	Path     Path      `yaml:"path"`
	Move     mcmc.Move `yaml:"move"`
	Weight   Weighting `yaml:"weight,omitempty"`
	Learn    Learner   `yaml:"learn,omitempty"`
	Keep     Keeper    `yaml:"keep,omitempty"`
	Resample Resampler `yaml:"resample"`
}

func (s *settings) Defaults() {
	if s.Path == nil {
		s.Path = Tempering{}
	}
	if s.Move == nil {
		s.Move = mcmc.HMC{}
	}
	s.Move = s.Move.ForPopulation(DefaultMutations(s.Path), s.Learn != nil)
	if s.Resample.When == nil {
		s.Resample.When = DefaultOccasion(s.Path, nil)
	}
}

func families() []config.Family {
	return []config.Family{Paths, mcmc.Moves, Weightings, Schemes, Occasions, Learners, Keepers}
}

// What a config may say of paths, moves, weightings and resampling, and how it is written with every default. Each row of
// each table has a case.
func TestConfigs(t *testing.T) {
	const (
		hmc         = "move: {hmc: {length: auto, step: adapted, accept: 0.9, jitter: 0.2, mutations: {max: 50}}}"
		once        = "move: {hmc: {length: auto, step: adapted, accept: 0.9, jitter: 0.2, mutations: 1}}"
		multinomial = "resample: {scheme: multinomial, when: {ess: 0.5}}"
	)
	all := ""
	for _, c := range [][2]string{
		{"path: {}", "path: {tempering: {ess: 0.5}}|" + hmc + "|resample: {scheme: multinomial, when: always}"},
		{"path: {tempering: {ess: 0.7}}|resample: {scheme: systematic, when: never}", "path: {tempering: {ess: 0.7}}|" + hmc + "|resample: {scheme: systematic, when: never}"},
		{"path: {constant: {}}", "path: {constant: {iterations: 200, batch: 500}}|" + once + "|" + multinomial},
		{"path: {full: {}}|weight: reversal", "path: {full: {iterations: 200}}|" + once + "|weight: reversal|" + multinomial},
		{"path: {ctr: {batch: 7}}", "path: {ctr: {iterations: 200, batch: 7}}|" + once + "|" + multinomial},
		{"path: {linear: {iterations: 9, batch: 7}}|move: {leapfrog: {step: 0.5}}|weight: momentum",
			"path: {linear: {iterations: 9, batch: 7, grow: 7}}|move: {leapfrog: {steps: 3, step: 0.5}}|weight: momentum|" + multinomial},
		{"path: {automated: {grow: 7}}|move: {leapfrog: {steps: 1, step: 0.5, gradient: {batch: 9}}}|weight: literal",
			"path: {automated: {iterations: 200, batch: 500, grow: 7}}|move: {leapfrog: {steps: 1, step: 0.5, gradient: {batch: 9}}}|weight: literal|" + multinomial},
		{"path: {sda: {exact: true, scale: true}}|resample: {scheme: stratified}",
			"path: {sda: {iterations: 200, batch: 500, grow: 500, first: 0.1, entropy: 1, exact: true, scale: true}}|" + once + "|resample: {scheme: stratified, when: {ess: 0.5}}"},
		{"move: {pcn: {step: 0.25, mutations: {eta: 0.1}}}|resample: {scheme: residual, when: {ess: 0.25}}",
			"path: {tempering: {ess: 0.5}}|move: {pcn: {step: 0.25, mutations: {max: 50, eta: 0.1}}}|resample: {scheme: residual, when: {ess: 0.25}}"},
		{"path: {full: {}}|move: {epoch: {batch: 9, step: 0.5}}|keep: {after: 3, as: bfloat16}",
			"path: {full: {iterations: 200}}|move: {epoch: {batch: 9, step: 0.5, order: shared}}|keep: {after: 3, as: bfloat16}|" + multinomial},
		{"move: {sghmc: {batch: 9, step: 0.5, friction: 0.25}}",
			"path: {tempering: {ess: 0.5}}|move: {sghmc: {batch: 9, step: 0.5, friction: 0.25}}|resample: {scheme: multinomial, when: always}"},
		{"path: {constant: {epochs: 100, batch: 50}}|move: {walk: {sd: 0.1}}|weight: bootstrap|learn: {adam: {rate: 0.01}}|keep: best",
			"path: {constant: {epochs: 100, batch: 50}}|move: {walk: {sd: 0.1}}|weight: bootstrap|learn: {adam: {rate: 0.01}}|keep: best|" + multinomial},
		{"path: {full: {}}|move: {walk: {sd: 0.1}}|weight: {bootstrap: {temperature: examples}}",
			"path: {full: {iterations: 200}}|move: {walk: {sd: 0.1}}|weight: {bootstrap: {temperature: examples}}|" + multinomial},
		{"path: {full: {}}|move: {walk: {sd: 0.1}}|weight: {bootstrap: {temperature: {warmup: 2.5}}}",
			"path: {full: {iterations: 200}}|move: {walk: {sd: 0.1}}|weight: {bootstrap: {temperature: {warmup: 2.5, sampling: examples}}}|" + multinomial},
		{"path: {full: {}}|move: {walk: {sd: 0.1}}|weight: equal", "path: {full: {iterations: 200}}|move: {walk: {sd: 0.1}}|weight: equal|" + multinomial},
		{"path: {full: {epochs: 3}}|move: {metropolis: {sd: 0.1}}|learn: adamw|keep: {spread: {states: 8}}",
			"path: {full: {epochs: 3}}|move: {metropolis: {sd: 0.1}}|learn: {adamw: {rate: 0.01, decay: 0.01}}|keep: {spread: {states: 8}}|" + multinomial},
		{"path: {full: {}}|learn: {sgd: {momentum: 0.5}}|keep: {after: {iterations: 8}}",
			"path: {full: {iterations: 200}}|" + once + "|learn: {sgd: {rate: 0.01, momentum: 0.5}}|keep: {after: 8, as: float32}|" + multinomial},
		{"path: {constant: {epochs: 100, batch: 50}}|move: {leapfrog: {steps: 1}}|learn: adam",
			"path: {constant: {epochs: 100, batch: 50}}|move: {leapfrog: {steps: 1, step: auto}}|learn: {adam: {rate: 0.01}}|" + multinomial},
		{"path: {constant: {epochs: 100, batch: 50}}|move: {leapfrog: {steps: 1, step: literal}}|learn: adam",
			"path: {constant: {epochs: 100, batch: 50}}|move: {leapfrog: {steps: 1, step: literal}}|learn: {adam: {rate: 0.01}}|" + multinomial},
		{"path: {full: {}}|keep: last", "path: {full: {iterations: 200}}|" + once + "|keep: last|" + multinomial},
		{"move: {hmc: {steps: 4, jitter: 0.25, mutations: 3}}",
			"path: {tempering: {ess: 0.5}}|move: {hmc: {steps: 4, step: adapted, accept: 0.65, jitter: 0.25, mutations: 3}}|resample: {scheme: multinomial, when: always}"},
	} {
		text, want := strings.ReplaceAll(c[0], "|", "\n"), strings.ReplaceAll(c[1], "|", "\n")+"\n"
		got, _, err := config.Parse[settings]("c.yaml", []byte(text), nil, families()...)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		written := string(config.Encode(got, families()...))
		if plain(written) != plain(want) {
			t.Errorf("%s\nis written\n%s\nwant\n%s", text, written, want)
		}
		again, _, err := config.Parse[settings]("c.yaml", []byte(written), nil, families()...)
		if back := string(config.Encode(again, families()...)); err != nil || back != written {
			t.Errorf("%s\nis read and written as\n%s\nerror %v", written, back, err)
		}
		all += plain(written)
	}
	for _, row := range Paths { // without a setting
		if c, ok := caseOf(t, row.Name); ok {
			got, _, err := config.Parse[settings]("c.yaml", []byte("path: {"+row.Name+": {}}"), nil, families()...)
			if err != nil && strings.Contains(err.Error(), "needs ") { // a setting without a default
				got, _, err = config.Parse[settings]("c.yaml", []byte("path: "+c.config), nil, families()...)
			}
			written := plain(string(config.Encode(got, families()...)))
			if err != nil || !strings.HasPrefix(written, plain("path: "+c.config+"\n")) {
				t.Errorf("%s without settings is written %s, want %s; error %v", row.Name, written, c.config, err)
			}
			all += written
		}
	}
	for _, text := range append(rows("move", mcmc.Moves), rows("resample", Schemes)...) { // likewise, unless a setting is needed
		if got, _, err := config.Parse[settings]("c.yaml", []byte(text), nil, families()...); err == nil {
			all += plain(string(config.Encode(got, families()...)))
		} else if !strings.Contains(err.Error(), "needs a ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, family := range families() {
		for _, name := range family.Names() {
			if !strings.Contains(all, name+":") && !strings.Contains(all, ":"+name) {
				t.Errorf("no config has %s", name)
			}
		}
	}
}

// A learner follows each optimiser, by its name.
func TestLearnersAreOptimisers(t *testing.T) {
	if got, want := Learners.Names(), nn.Optimisers.Names(); !slices.Equal(got, want) {
		t.Fatalf("learners %q, optimisers %q", got, want)
	}
	for i, row := range Learners {
		if rule := reflect.ValueOf(row.Part).FieldByName("Rule").Interface(); rule != any(nn.Optimisers[i].Part) {
			t.Errorf("%s follows %T", row.Name, rule)
		}
	}
}

// rows are configs of one row each, without settings.
func rows(key string, family config.Family) (all []string) {
	for _, name := range family.Names() {
		if key == "resample" {
			all = append(all, "resample: {scheme: "+name+"}")
		} else {
			all = append(all, key+": {"+name+": {}}")
		}
	}
	return all
}

// plain is a config on one line, with braces and without spaces.
func plain(text string) string {
	return strings.NewReplacer(" ", "", "\n", ";").Replace(text)
}

// Faults stand at the setting, whatever the path's rule.
func TestConfigFaults(t *testing.T) {
	for text, want := range map[string]string{
		"path: {constant: {iterations: -1, batch: -2}}": "c.yaml:1:31: path.constant.iterations: want at least 1, have -1\nc.yaml:1:42: path.constant.batch: want at least 1, have -2",
		"path: {full: {batch: 7}}":                      `c.yaml:1:15: path.full: unknown key "batch" (known: iterations, epochs)`,
		"path: {constant: {batch: 0}}":                  "c.yaml:1:26: path.constant.batch: 0 is not allowed here: leave it out for the default",
		"path: {constant: {epochs: 0}}":                 "c.yaml:1:27: path.constant.epochs: want a whole number above 0, have 0",
		"path: {constant: {epochs: -2}}":                "c.yaml:1:27: path.constant.epochs: want at least 1, have -2",
		"path: {constant: {epochs: 2, iterations: 9}}":  "c.yaml:1:27: path.constant.epochs: 2 epochs exclude 9 iterations: want one of them",
		"path: {linear: {epochs: 2}}":                   "c.yaml:1:25: path.linear.epochs: batches that grow or change in kind make no epochs: want iterations",
		"learn: {adam: {rate: 0}}":                      "c.yaml:1:22: learn.adam.rate: want a number above 0, as in {rate: 0.01}, have 0",
		"learn: {adam: {rate: -1}}":                     "c.yaml:1:22: learn.adam.rate: want a number above 0, as in {rate: 0.01}, have -1",
		"learn: {adam: {rate: .nan}}":                   "c.yaml:1:22: learn.adam.rate: want a number above 0, have NaN",
		"keep: {spread: {states: -1}}":                  "c.yaml:1:25: keep.spread.states: want at least 1, have -1",
		"keep: {after: {iterations: -1}}":               "c.yaml:1:28: keep.after.iterations: want at least 0, have -1",
		"keep: {after: 8, as: float16}":                 `c.yaml:1:22: keep.as: unknown name "float16": did you mean "bfloat16"? (known: float32, bfloat16)`,
		"path: {linear: {grow: -1}}":                    "c.yaml:1:23: path.linear.grow: want at least 1, have -1",
		"move: {leapfrog: {gradient: {}, step: 1}}":     "c.yaml:1:29: move.leapfrog.gradient: needs a batch, as in {batch: 500}",
		"move: {hmc: {mutations: 5000}}":                "c.yaml:1:25: move.hmc.mutations: want below 4097, have 5000",
		"move: {hmc: {step: big}}":                      `c.yaml:1:20: move.hmc.step: want a number or adapted, have "big"`,
		"resample: {when: {ess: 1.5}}":                  "c.yaml:1:24: resample.when.ess: want a number above 0 and below 1, have 1.5",
		"resample: {when: 3}":                           "c.yaml:1:18: resample.when: want " + Occasions.Forms() + ", have 3",
		"path: {sda: {first: 1.5}}":                     "c.yaml:1:21: path.sda.first: want a number above 0, at most 1, have 1.5",
		"path: {sda: {first: 0}}":                       "c.yaml:1:21: path.sda.first: 0 is not allowed here: leave it out for the default",
		"path: {sda: {first: -0.1}}":                    "c.yaml:1:21: path.sda.first: want a number above 0, at most 1, have -0.1",
		"path: {sda: {entropy: -2}}":                    "c.yaml:1:23: path.sda.entropy: want a number above 0, have -2",
		"path: {sda: {entropy: 0}}":                     "c.yaml:1:23: path.sda.entropy: 0 is not allowed here: leave it out for the default",
		"path: {sda: {entropy: .inf}}":                  "c.yaml:1:23: path.sda.entropy: want a number, have +Inf",
		"path: {sda: {dS: 2}}":                          `c.yaml:1:14: path.sda: unknown key "dS" (known: iterations, batch, grow, first, entropy, exact, scale)`,
	} {
		_, _, err := config.Parse[settings]("c.yaml", []byte(text), nil, families()...)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error\n%v\nwant\n%s", text, err, want)
		}
	}
}
