package report

import (
	"strings"
	"testing"

	"github.com/starling-smc/starling/eval"
	"github.com/starling-smc/starling/uq"
)

// TestDeclared: a run with a threshold shows the scores of its decision for each out-of-distribution group, and another run nothing.
func TestDeclared(t *testing.T) {
	f := shape{groups: []string{"noise", "far"}}.make(t)
	f.run.Decision = &eval.Decision{Foreign: &eval.Foreign{Pass: 0.95, By: "energy", Threshold: -1.25, N: 40}}
	groups := f.a.Metrics.Groups
	for i := range f.a.Groups {
		groups[2+i].ByEnergy = uq.Detect([]float64{-2, -2, -2, 0}, []float64{1, -2}, -1.25)
	}
	tables := f.view(t).declared()
	if len(tables) != 1 || len(tables[0].Rows) != 2 || !strings.Contains(tables[0].Caption, "above −1.250, which 95\u00a0% of 40 validation examples") {
		t.Fatalf("tables %+v", tables)
	}
	var cells []string
	for _, c := range tables[0].Rows[0].Cells {
		cells = append(cells, c.Text)
	}
	if got, want := strings.Join(cells, " "), "66.7\u00a0% 50.0\u00a0% 50.0\u00a0% 0.500 75.0\u00a0%"; got != want || tables[0].Rows[0].Name != "noise" {
		t.Errorf("%s: %q, want %q", tables[0].Rows[0].Name, got, want)
	}
	f.run.Decision = nil
	if tables := f.view(t).declared(); tables != nil {
		t.Errorf("without a threshold: %+v", tables)
	}
}

// TestMembers: a row for each number of members, and no table for few.
func TestMembers(t *testing.T) {
	f := shape{}.make(t)
	f.a.Metrics.Members = []eval.Members{{M: 1, Accuracy: 0.5, NLL: 1.23456, ECE: 0.1}, {M: 1200, Accuracy: 0.75, NLL: 1, ECE: 0.01}}
	tables := f.view(t).members()
	if len(tables) != 1 || len(tables[0].Rows) != 2 || tables[0].Rows[1].Name != "1,200" || tables[0].Rows[0].Cells[1].Text != "1.2346" {
		t.Errorf("tables %+v", tables)
	}
	f.a.Metrics.Members = nil
	if tables := f.view(t).members(); tables != nil {
		t.Errorf("for few members: %+v", tables)
	}
}
