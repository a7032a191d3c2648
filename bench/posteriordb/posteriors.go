package main

import (
	"fmt"

	"github.com/starling-smc/starling/bayes"
)

// posterior is a model of posteriordb with its data, in the parameters of its Stan program.
type posterior struct {
	name  string // as posteriordb has it: data-model
	model func(d dataset) (*bayes.Model, error)
	data  string // file of the data
	// reference is the name of the reference draws, if it is another posterior's.
	reference string
	// quantities turns the parameters' values into the quantities of the reference draws, in their order and in place; nil:
	// they are the same.
	quantities func(p []float64)
}

// posteriors are all posteriors of the suite.
var posteriors = []posterior{
	{name: "earnings-earn_height", data: "earnings", model: earnHeight},
	{name: "earnings-logearn_interaction", data: "earnings", model: logearnInteraction},
	{name: "kidiq-kidscore_momiq", data: "kidiq", model: kidscoreMomiq},
	{name: "kidiq-kidscore_interaction", data: "kidiq", model: kidscoreInteraction},
	{name: "mesquite-mesquite", data: "mesquite", model: mesquite},
	{name: "nes1980-nes", data: "nes1980", model: nes},
	{name: "kilpisjarvi_mod-kilpisjarvi", data: "kilpisjarvi_mod", model: kilpisjarvi},
	{name: "sblri-blr", data: "sblri", model: blr},
	{name: "arK-arK", data: "arK", model: arK},
	{name: "garch-garch11", data: "garch", model: garch, quantities: garchQuantities},
	{name: "eight_schools-eight_schools_noncentered", data: "eight_schools", model: schoolsNoncentered, quantities: schoolsQuantities},
	{name: "eight_schools-eight_schools_centered", data: "eight_schools", model: schoolsCentered,
		quantities: centredQuantities, reference: "eight_schools-eight_schools_noncentered"},
	{name: "gp_pois_regr-gp_regr", data: "gp_pois_regr", model: gpRegression},
	{name: "hudson_lynx_hare-lotka_volterra", data: "hudson_lynx_hare", model: lotkaVolterra},
	{name: "one_comp_mm_elim_abs-one_comp_mm_elim_abs", data: "one_comp_mm_elim_abs", model: oneCompartment, quantities: logs},
}

// build reads the data and makes the model. wide is as dataset has it.
func (p posterior) build(wide float64) (*bayes.Model, error) {
	d := dataset{wide: wide}
	if err := read(p.data, &d.values); err != nil {
		return nil, err
	}
	m, err := p.model(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return m, nil
}

// moment is the mean and the standard deviation of a quantity with their Monte Carlo standard errors.
type moment struct {
	Name     string  `json:"name"`
	Mean     float64 `json:"mean"`
	MeanMCSE float64 `json:"mean_mcse"`
	SD       float64 `json:"sd"`
	SDMCSE   float64 `json:"sd_mcse"`
}

// moments returns the moments of the reference draws.
func (p posterior) moments() ([]moment, error) {
	var all map[string][]moment
	if err := read("reference", &all); err != nil {
		return nil, err
	}
	name := p.reference
	if name == "" {
		name = p.name
	}
	if all[name] == nil {
		return nil, fmt.Errorf("data/reference.json has no posterior %s", name)
	}
	return all[name], nil
}
