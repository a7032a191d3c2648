// Package presets holds the built-in configs, each as commented text.
package presets

import (
	"bytes"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"
)

//go:embed *.yaml annealing/*.yaml table/*.yaml
var files embed.FS

// Names lists the presets in alphabetical order.
func Names() []string {
	list, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	names := annealingNames()
	for _, f := range list {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Text returns a preset as a commented config; nil if there is none of that name.
func Text(name string) []byte {
	if slices.Contains(annealingNames(), name) {
		return annealingText(name)
	}
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// The presets of data annealing differ in network, schedule and number of leapfrogs. There is a template for each network.

type annealing struct {
	Scheme, About, Path string
}

var annealings = []annealing{
	{"constant", "a fresh batch every iteration.", "constant: {iterations: 200, batch: 500}"},
	{"full", "all images every iteration.", "full: {iterations: 200}"},
	{"ctr", "fresh batches, all images in the last tenth.", "ctr: {iterations: 200, batch: 500}"},
	{"linear", "a batch that grows by 500 an iteration.", "linear: {iterations: 200, batch: 500, grow: 500}"},
	{"automated", "a batch that holds all images after nine tenths.", "automated: {iterations: 200, batch: 500, grow: 500}"},
	{"sda", "smooth annealing, one block after another.", "sda: {iterations: 200, batch: 500, grow: 500, scale: true}"},
}

// annealingNames lists the names: NETWORK-SCHEME for Hamiltonian dynamics, NETWORK-SCHEME-ld for Langevin dynamics.
func annealingNames() (names []string) {
	for _, net := range []string{"mnist-lenet5", "fashion-cnn"} {
		for _, a := range annealings {
			names = append(names, net+"-"+a.Scheme, net+"-"+a.Scheme+"-ld")
		}
	}
	return names
}

// annealingText fills in the template of a preset.
func annealingText(name string) []byte {
	rest, langevin := strings.CutSuffix(name, "-ld")
	at := strings.LastIndexByte(rest, '-')
	a := annealings[slices.IndexFunc(annealings, func(a annealing) bool { return a.Scheme == rest[at+1:] })]
	of := struct {
		annealing
		Name, Dynamics string
		Steps          int
	}{a, name, "HMC", 3}
	if langevin {
		of.Dynamics, of.Steps = "Langevin", 1
	}
	text, err := template.ParseFS(files, "annealing/*.yaml")
	var b bytes.Buffer
	if err == nil {
		err = text.ExecuteTemplate(&b, rest[:at]+".yaml", of)
	}
	if err != nil {
		panic(err) // the templates are constants, and a test fills in each of them
	}
	return b.Bytes()
}
