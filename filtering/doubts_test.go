package filtering

import (
	"testing"

	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/ssm"
)

func step(time string, change func(s *Step)) *Step {
	s := &Step{Line: Line{Time: Time(time), Returns: 3, Ancestors: 100, Surprise: known(0.5),
		Tracks: []Track{{ID: "1", Returns: known(9)}, {ID: "2", Returns: known(9)}}, Accept: &Accept{Joint: known(0.3)}}}
	change(s)
	return s
}

// Doubtful scans are counted, and the worst is named by its time: few ancestors, but not one, which is counted elsewhere; joint draws that are
// all accepted, where there are returns; targets that are lost; scans that surprise.
func TestDoubts(t *testing.T) {
	var d Doubts
	for _, s := range []*Step{
		step("1", func(s *Step) {}),
		step("2", func(s *Step) { s.Ancestors, s.Surprise = 19, known(0.001) }),
		step("3", func(s *Step) { s.Ancestors, s.Tracks[1].Lost, s.Tracks[1].Returns = 1, true, known(2) }),
		step("4", func(s *Step) { s.Ancestors, s.Surprise = 4, known(0.0001) }),
		step("5", func(s *Step) { s.Ancestors, s.Surprise = 20, known(0.0011) }),
		step("6", func(s *Step) { s.Accept.Joint, s.Returns = known(1), 0 }),
		step("7", func(s *Step) { s.Accept.Joint = known(1) }),
		step("8", func(s *Step) { s.Ancestors, s.Tracks[1].Lost, s.Tracks[1].Returns = 4, true, known(0.5) }),
		step("9", func(s *Step) { s.Accept, s.Tracks, s.Surprise = nil, nil, nil }),
	} {
		d.add(s, 1)
	}
	for _, c := range []struct {
		what string
		have *Doubted
		want Doubted
	}{
		{"few ancestors", d.FewAncestors, Doubted{3, "4", 4}}, {"idle", d.Idle, Doubted{1, "7", 1}}, {"surprising", d.Surprising, Doubted{2, "4", 0.0001}},
		{"lost", &d.Lost[0].Doubted, Doubted{2, "8", 0.5}},
	} {
		if c.have == nil || *c.have != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, c.have, c.want)
		}
	}
	if len(d.Lost) != 1 || d.Lost[0].ID != "2" {
		t.Errorf("lost: %+v", d.Lost)
	}
	found := d.findings(9)
	for _, k := range []finding.Kind{finding.LostTarget{}, finding.FewAncestors{}, finding.SurprisingScans{}, finding.IdleScans{}} {
		if !finding.Has(found, k) {
			t.Errorf("no finding %T", k)
		}
	}
	var several Doubts // three of 6 ancestors have 18, and of 7 have 21
	several.add(step("1", func(s *Step) { s.Ancestors = 6 }), 3)
	several.add(step("2", func(s *Step) { s.Ancestors = 7 }), 3)
	if want := (Doubted{1, "1", 18}); several.FewAncestors == nil || *several.FewAncestors != want {
		t.Errorf("three filters: %+v, want %+v", several.FewAncestors, want)
	}
	if none := new(Doubts).findings(9); len(none) != 0 {
		t.Errorf("without doubts there are %v", none)
	}
}

// Scans that surprise are told where chance does so in fewer than one of a hundred runs.
func TestSurpriseBeyondChance(t *testing.T) {
	for _, c := range []struct {
		scans, some int
		least       Number
		want        bool
	}{
		{60, 1, 0.0001, true}, {60, 1, 0.0005, false}, {60, 2, 0.0005, true}, {10_000, 10, 0.0001, false}, {10_000, 19, 0.0001, true}, {1_000_000, 1_200, 0.0001, true},
		{10, 1, 0.001, true}, {11, 1, 0.001, false},
	} {
		if got := beyondChance(&Doubted{c.some, "1", c.least}, c.scans); got != c.want {
			t.Errorf("%d surprising scans of %d, the least %v: %v", c.some, c.scans, c.least, got)
		}
	}
}

// Several targets with at most one return each are sparse; one target, or more returns, are not.
func TestSparse(t *testing.T) {
	m := ssm.Clutter{Acceleration: 1, Returns: ssm.Returns{Rate: 1, SD: 1}, Background: ssm.Background{Rate: 5, Region: [4]float64{0, 1, 0, 1}}}
	start := ssm.Initial{Mean: make([]float64, 4), SD: make([]float64, 4)}
	m.Initial = []ssm.Initial{start, start}
	if s := sparse(m, true); s == nil || *s != (Sparse{2, 1, true}) {
		t.Errorf("two targets of one return: %+v", s)
	}
	one, many := m, m
	one.Initial, many.Returns.Rate = m.Initial[:1], 1.1
	for _, m := range []ssm.Clutter{one, many} {
		if s := sparse(m, false); s != nil {
			t.Errorf("%d targets of %v returns: %+v", len(m.Initial), m.Returns.Rate, s)
		}
	}
}

// Targets of few returns give none by chance, now and then: such idle scans are no doubt. More of them are, and so is one of targets that give
// many returns, or of a model that expects a measurement in each scan.
func TestIdleBeyondClutter(t *testing.T) {
	clutter := func(rate float64, targets int) ssm.Model {
		m := ssm.Clutter{Acceleration: 1, Returns: ssm.Returns{Rate: rate, SD: 1}, Background: ssm.Background{Rate: 5, Region: [4]float64{0, 1, 0, 1}}}
		for range targets {
			m.Initial = append(m.Initial, ssm.Initial{Mean: make([]float64, 4), SD: make([]float64, 4)})
		}
		return m
	}
	line := ssm.LinearGaussian{A: [][]float64{{1}}, Q: [][]float64{{1}}, H: [][]float64{{1}}, R: [][]float64{{1}}}
	for _, c := range []struct {
		m           ssm.Model
		some, scans int
		want        bool
	}{
		{clutter(0.9, 3), 4, 60, false}, {clutter(0.9, 3), 9, 60, false}, {clutter(0.9, 3), 10, 60, true}, {clutter(0.9, 3), 7_000, 100_000, true}, {clutter(0.9, 3), 6_800, 100_000, false},
		{clutter(3, 1), 14, 40, true}, {clutter(15, 1), 1, 1000, true}, {line, 1, 1000, true},
	} {
		d := &Doubted{c.some, "1", 1}
		if got := d.beyondClutter(c.m, c.scans); got != nil && got != d || (got != nil) != c.want {
			t.Errorf("%d idle scans of %d: %v, want %v", c.some, c.scans, got, c.want)
		}
	}
	if (*Doubted)(nil).beyondClutter(clutter(3, 1), 9) != nil {
		t.Error("no idle scans became some")
	}
}
