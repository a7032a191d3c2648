package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling"
	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/rng"
)

// crossing is a made-up filter run: three targets that cross in 8,500 returns a scan, 4,000 of them clutter in a square of 200.
func crossing(scans int) *Filtered {
	draw := rng.Key{Seed: 2, Purpose: rng.Split}.Stream()
	f := &Filtered{
		Title: "clutter3", Method: "sequential MCMC, 4,000 samples a scan", IDs: []string{"1", "2", "3"}, Names: []string{"x", "y", "vx", "vy"},
		Cells: &Returns{X: -100, Y: -100, Size: 5, Columns: 40, Counts: make([]int, 1600)}, Version: "1.2.3", Config: "name: clutter3\nseed: 1\n",
		Facts: []Fact{{"seed", "1"}},
	}
	see := func(x, y float64) {
		if len(f.Scans) >= 20 { // enough for a picture
			return
		}
		if x, y = (x+100)/5, (y+100)/5; x >= 0 && x < 40 && y >= 0 && y < 40 {
			f.Cells.Counts[int(y)*40+int(x)]++
		}
	}
	starts := [][]float64{{-60, -40, 6, 4}, {-60, 40, 6, -4}, {0, -70, 0, 7}}
	for k := range scans {
		s := FilteredScan{
			Time: float64(k + 1), Returns: 8500, Seconds: .05 + .002*draw.Normal(), Lag: math.NaN(),
			Info: filter.Info{
				Joint: .001, Index: .4 + .02*draw.Normal(), Refine: .2 + .02*draw.Normal(), Ancestors: 900 + 3*k, Evaluated: 2_000_000 + int64(1000*k),
				Skipped: 30_000_000, LogEvidence: math.NaN(),
				Seen: &filter.ByKind{Joint: 1, Index: math.NaN(), Refine: .02}, BySum: &filter.ByKind{Joint: 1, Index: math.NaN(), Refine: .01},
			},
		}
		for range 4000 {
			see(200*draw.Float64()-100, 200*draw.Float64()-100)
		}
		for r := range f.IDs {
			turn := 20 * math.Sin(float64(k)/5+float64(r))
			truth := []float64{starts[r][0] + starts[r][2]*float64(k), starts[r][1] + starts[r][3]*float64(k) + turn, starts[r][2], starts[r][3]}
			sd := .4 + .3*math.Exp(-math.Pow(float64(k-10)/3, 2))
			u, v := sd*draw.Normal(), .5*sd*draw.Normal()
			s.Truth = append(s.Truth, truth)
			s.Mean = append(s.Mean, []float64{truth[0] + u, truth[1] + .8*u + v, truth[2], truth[3]})
			s.SD = append(s.SD, []float64{sd, sd * math.Sqrt(.89), .1, .1})
			s.Cov = append(s.Cov, [4]float64{sd * sd, .8 * sd * sd, .8 * sd * sd, .89 * sd * sd})
			for range 1500 {
				see(truth[0]+draw.Normal(), truth[1]+draw.Normal())
			}
			for range f.Names {
				s.ESS = append(s.ESS, 200+50*draw.Float64())
			}
		}
		f.Scans = append(f.Scans, s)
	}
	return f
}

// walk is a made-up run of a model that is no tracker: location and log scale of a day's measurements.
func walk(days int) *Filtered {
	draw := rng.Key{Seed: 3, Purpose: rng.Split}.Stream()
	f := &Filtered{Title: "flights", Method: "bootstrap filter, 10,000 particles", IDs: []string{""}, Names: []string{"location", "log scale"}, Version: "1.2.3"}
	at := 0.0
	for k := range days {
		at += .5 * draw.Normal()
		u := .3 * draw.Normal()
		f.Scans = append(f.Scans, FilteredScan{
			Time: 86400 * float64(k), Text: fmt.Sprintf("2013-%02d-%02d", 1+k/28, 1+k%28), Returns: 900 + draw.IntN(100), Missing: draw.IntN(20),
			Mean: [][]float64{{at + u, 2 + .1*draw.Normal()}}, SD: [][]float64{{.3, .1}}, Low: []float64{at + u - .5, 1.8}, High: []float64{at + u + .5, 2.2},
			Truth: [][]float64{{at, 2}}, Quantiles: []float64{at - 12, at - 5, at, at + 7, at + 40}, Seconds: .01, Lag: .02,
			Info: filter.Info{Joint: math.NaN(), Index: math.NaN(), Refine: math.NaN(), ESS: []float64{3000, 5000}, Ancestors: 2000, LogEvidence: -3500 + 20*draw.Normal()},
		})
	}
	return f
}

func filterPage(t testing.TB, f *Filtered) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFilter(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// filterPages are filter runs of every kind, among them runs of which much is missing.
func filterPages() map[string]*Filtered {
	all := map[string]*Filtered{"crossing": crossing(20), "walk": walk(365), "one scan": crossing(1), "one day": walk(1), "long": crossing(1000)}
	plain := crossing(20) // as of a Kalman filter: neither truth nor cells nor a sample
	plain.Cells = nil
	for k := range plain.Scans {
		s := &plain.Scans[k]
		s.Truth, s.Seconds, s.Info = nil, math.NaN(), filter.Info{Joint: math.NaN(), Index: math.NaN(), Refine: math.NaN(), LogEvidence: -5}
	}
	all["plain"] = plain
	bare := walk(40)
	for k := range bare.Scans {
		s := &bare.Scans[k]
		s.Truth, s.Low, s.High, s.Quantiles, s.Text = nil, nil, nil, nil, ""
	}
	all["bare"] = bare
	named := crossing(20)
	named.Title, named.Method, named.Config = hostile, hostile, hostile
	named.IDs, named.Names = []string{hostile, "]]>", strings.Repeat("long ", 30)}, []string{hostile, "</svg>", "vx", "vy"}
	named.Facts, named.Findings = []Fact{{hostile, hostile}}, []starling.Finding{{Kind: hostile}}
	named.Scans[0].Text = hostile
	all["hostile"] = named
	undefined := crossing(20)
	for k := range undefined.Scans {
		s := &undefined.Scans[k]
		nan, inf := math.NaN(), math.Inf(1)
		if s.LogEvidence = math.Inf(-1); k%3 == 0 {
			s.Mean[0], s.Cov[0], s.SD[1], s.Truth[2], s.ESS = []float64{nan, inf, nan, nan}, [4]float64{nan, inf, 0, -1}, []float64{inf, nan, 0, 0}, nil, []float64{nan, inf}
		}
	}
	undefined.Cells.Counts = make([]int, 1600)
	all["undefined"] = undefined
	return all
}

// TestFilterHeldOut: a page has the scores of measurements that the filter did not see.
func TestFilterHeldOut(t *testing.T) {
	f := walk(3)
	f.HeldOut = &filtering.Held{N: 32780, LogScore: -4.14593, Running: -5.10971}
	if page := filterPage(t, f); !strings.Contains(page, "did not see 32,780 measurements") || !strings.Contains(page, "−4.1459 nats") || !strings.Contains(page, "−5.1097") {
		t.Error("the page does not say how well the filter predicts")
	}
	f.HeldOut = nil
	if strings.Contains(filterPage(t, f), "did not see") {
		t.Error("scores of nothing")
	}
}

// TestFilterPages checks what every page must be: well-formed, small, complete in itself, the same bytes each time, with names
// as text and without NaN.
func TestFilterPages(t *testing.T) {
	again := filterPages()
	for name, f := range filterPages() {
		page := filterPage(t, f)
		if page != filterPage(t, again[name]) {
			t.Errorf("%s: the same run gives another page", name)
		}
		if len(page) > 300_000 {
			t.Errorf("%s: the page has %d bytes", name, len(page))
		}
		if strings.Contains(page, "<script") {
			t.Errorf("%s: names are not escaped", name)
		}
		checkPage(t, page)
		if t.Failed() {
			t.Fatalf("on the page %q", name)
		}
	}
}

// TestFilterSections finds the parts of a page that a run has, and sentences in place of those that it has not.
func TestFilterSections(t *testing.T) {
	const unknown, noSample, noEvidence, noProposals = "The truth is not known here", "draws no sample, so", "estimates no evidence", "makes no proposals"
	all := filterPages()
	heading := regexp.MustCompile(`<h[23][^>]*>([^<]*)`)
	for name, want := range map[string]struct{ has, lacks []string }{
		"crossing": {[]string{"Tracks over the returns", "Error of track 1", "Error of track 3", "Acceptance", "Measurements looked at", "Decisions by the sum over all measurements", "Effective sample size", "Ancestors",
			"Terms of the likelihood", "Measurements", "Time", noEvidence}, []string{"Log evidence of each scan", "What is the hidden state?", unknown, noSample, noProposals}},
		"plain": {[]string{"Tracks over the returns", "Log evidence of each scan", unknown, noSample, noProposals},
			[]string{"How far from the truth?", "Acceptance", "Measurements looked at", "Decisions by the sum over all measurements", "Ancestors", "Terms of the likelihood", "Time", "live, it", noEvidence}},
		"walk": {[]string{"What is the hidden state?", "location", "log scale", "their median", "Ancestors", "Log evidence of each scan", "days after the first scan",
			"2013-01-01 to 2013-", noProposals}, []string{"Where are the targets?", "Terms of the likelihood", unknown, noSample}},
		"bare": {[]string{"two standard deviations", unknown}, []string{"their median", "90\u00a0% interval", "truth inside"}},
	} {
		page := filterPage(t, all[name])
		var headings []string
		for _, m := range heading.FindAllStringSubmatch(page, -1) {
			headings = append(headings, m[1])
		}
		for _, says := range want.has {
			if !slices.Contains(headings, says) && !(strings.Contains(says, " ") && strings.Contains(page, says)) {
				t.Errorf("%s: the page lacks %q: %q", name, says, headings)
			}
		}
		for _, says := range want.lacks {
			if slices.Contains(headings, says) || strings.Contains(says, " ") && strings.Contains(page, says) {
				t.Errorf("%s: the page has %q", name, says)
			}
		}
	}
}

// TestFilterFigures computes errors, their standard deviations and the share of truths inside the ellipses by hand.
func TestFilterFigures(t *testing.T) {
	f := crossing(3)
	f.IDs = f.IDs[:1]
	for k, off := range [][2]float64{{3, 0}, {0, 4}, {4, 0}} { // to the east and to the north, where the sd is 2 and 1
		s := &f.Scans[k]
		s.Mean, s.Truth = [][]float64{{10, 20, 0, 0}}, [][]float64{{10 + off[0], 20 + off[1], 0, 0}}
		s.SD, s.Cov, s.ESS = [][]float64{{2, 1, 0, 0}}, [][4]float64{{4, 0, 0, 1}}, []float64{40, 9, 50, 60}
		s.Seconds, s.Joint, s.Index, s.Refine = float64(2+k), .002, .001, math.NaN()
	}
	v := newTracking(f)
	rows := v.trackErrors().Tables[0].Rows
	var cells []string
	for _, c := range rows[0].Cells {
		cells = append(cells, c.Text)
	}
	// RMSE √((9 + 16 + 16)/3), posterior sd √(4 + 1); 1.5² and 2² are below 5.991, and 4² is above it
	if got, want := strings.Join(cells, " "), "3.697 2.236 4.000 66.7\u00a0%"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	page := filterPage(t, f)
	for _, says := range []string{
		"3.697 away from the truth", "deviation says 2.236", "too sure of itself: 66.7\u00a0% of the true values", "In 3 scans a mean is worth fewer than 10",
		"it accepts 0.2\u00a0% of its proposals", "live, it would fall behind", "93.7\u00a0% of all terms were left out",
	} {
		if !strings.Contains(page, says) {
			t.Errorf("the page does not say %q", says)
		}
	}
	calm := filterPage(t, walk(30))
	for _, says := range []string{"Beware.", "would fall behind"} {
		if strings.Contains(calm, says) {
			t.Errorf("a healthy run's page says %q", says)
		}
	}
}

// TestBadFiltered refuses what does not fit together.
func TestBadFiltered(t *testing.T) {
	for name, spoil := range map[string]func(f *Filtered){
		"no scans":         func(f *Filtered) { f.Scans = nil },
		"no tracks":        func(f *Filtered) { f.IDs = nil },
		"no coordinates":   func(f *Filtered) { f.Names = nil },
		"a track too few":  func(f *Filtered) { f.Scans[1].Mean = f.Scans[1].Mean[1:] },
		"a short mean":     func(f *Filtered) { f.Scans[1].Mean[2] = []float64{1} },
		"no mean":          func(f *Filtered) { f.Scans[1].Mean[2] = nil },
		"no sd":            func(f *Filtered) { f.Scans[1].SD = nil },
		"a short truth":    func(f *Filtered) { f.Scans[1].Truth[0] = []float64{1, 2} },
		"no covariances":   func(f *Filtered) { f.Scans[1].Cov = nil },
		"quantiles":        func(f *Filtered) { f.Scans[1].Quantiles = []float64{1, 2, 3} },
		"half an interval": func(f *Filtered) { f.Scans[1].Low = []float64{1, 2, 3, 4} },
		"observed":         func(f *Filtered) { f.Observed = 4 },
		"cells":            func(f *Filtered) { f.Cells.Columns = 7 },
	} {
		f := crossing(3)
		spoil(f)
		if err := WriteFilter(io.Discard, f); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
