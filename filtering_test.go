package starling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-smc/starling/filter"
	"github.com/starling-smc/starling/filtering"
	"github.com/starling-smc/starling/internal/finding"
	"github.com/starling-smc/starling/internal/lanes"
	"github.com/starling-smc/starling/internal/testkit"
	"github.com/starling-smc/starling/ssm"
)

// filterings are small runs of every model and every method.
var filterings = map[string]string{
	"clutter": `seed: 1
model: {clutter: {acceleration: 0.5, returns: {rate: 20, sd: 1}, clutter: {rate: 40, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 12}
method: {smcmc: {particles: 60, index: uniform}}
keep: samples
`,
	// Scans of so many returns that threads share a decision.
	"pooled": `seed: 2
model: {clutter: {acceleration: 0.5, returns: {rate: 2000, sd: 1}, clutter: {rate: 40000, region: [-50, 50, -50, 50]}, evaluate: all,
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 3}
method: {smcmc: {particles: 10, burn: 5}}
`,
	// Nodes that share the returns of a scan.
	"nodes": `seed: 7
model: {clutter: {acceleration: 0.5, returns: {rate: 20, sd: 1}, clutter: {rate: 40, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 12}
method: {ep: {nodes: 3, particles: 90, burn: 40, repair: softabs}}
against: {bootstrap: {particles: 100}}
`,
	// Draws near the returns of two targets that overlap, by four filters.
	"guided": `seed: 7
model: {clutter: {acceleration: 0.5, returns: {rate: 900, sd: 1}, clutter: {rate: 900, region: [-20, 20, -20, 20]},
  start: [{mean: [-5, 0, 1, 0], sd: [1, 1, 0.5, 0.5]}, {mean: [-5, 2, 1, 0], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 4}
method: {smcmc: {particles: 80, repeat: 4, burn: 20, joint: guided}}
against: laplace
`,
	"mode": `seed: 8
model: {range_bearing: {acceleration: 0.1, sensors: [[0, 0], [100, 20]], sd_range: 1, sd_bearing: 0.02, start: {mean: [30, 30, 1, 0], sd: [1, 1, 1, 1]}}}
scans: {simulate: 12}
method: laplace
`,
	// Decisions by some of the returns.
	"subsampled": `seed: 7
model: {clutter: {acceleration: 0.5, returns: {rate: 200, sd: 1}, clutter: {rate: 300, region: [-50, 50, -50, 50]},
  start: [{mean: [-20, 0, 2, 1], sd: [1, 1, 0.5, 0.5]}, {mean: [20, 10, -1, -1], sd: [1, 1, 0.5, 0.5]}]}}
scans: {simulate: 6}
method: {smcmc: {particles: 60, index: uniform, decide: {subsample: {give_up: 0.5}}}}
`,
	"line": `seed: 3
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]], returns: 40}}
scans: {simulate: 12, hold: 0.1}
method: {smcmc: {particles: 60}}
against: kalman
`,
	"exact": `seed: 3
model: {linear_gaussian: {a: [[1, 1], [0, 1]], q: [[1, 0], [0, 1]], h: [[1, 0]], r: [[4]], start: {mean: [0, 1], sd: [1, 1]}}}
scans: {simulate: 12}
method: kalman
against: {auxiliary: {particles: 50}}
`,
	"bearing": `seed: 4
model: {range_bearing: {acceleration: 0.1, sensors: [[0, 0], [100, 20]], sd_range: 1, sd_bearing: 0.02, start: {mean: [30, 30, 1, 0], sd: [1, 1, 1, 1]}}}
scans: {simulate: 12}
method: {bootstrap: {particles: 100}}
keep: samples
`,
	// Runs that keep the lines of their last scans, by time and by size.
	"time": `seed: 6
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}
scans: {simulate: 40}
method: kalman
last: 12s
`,
	"size": `seed: 6
model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}
scans: {simulate: 40}
method: {bootstrap: {particles: 20}}
against: kalman
last: 3kB
`,
	"tails": `seed: 5
model: {student: {location: 0.3, log_scale: 0.1, returns: 30, start: {mean: [0, 0], sd: [1, 0.5]}}}
scans: {simulate: 12}
method: {auxiliary: {particles: 100}}
`,
}

func filteringOf(t *testing.T, text string, sets ...string) Filtering {
	t.Helper()
	s, err := ParseFiltering("test", []byte(text), sets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFilterings: the small runs have every model and every method.
func TestFilterings(t *testing.T) {
	has := map[string]bool{}
	for _, text := range filterings {
		s := filteringOf(t, text)
		filteringRoundTrip(t, s)
		has[ssm.Models.Name(s.Model)], has[filter.Methods.Name(s.Method)] = true, true
	}
	for _, name := range append(ssm.Models.Names(), filter.Methods.Names()...) {
		if !has[name] {
			t.Errorf("filterings have no run of %s", name)
		}
	}
}

// filterIn makes a run of a filter in a folder, or resumes it.
func filterIn(ctx context.Context, dir string, s Filtering, o FilterOptions) (*Filtered, error) {
	f, err := ResumeFolder(dir, FilterRuns)
	if err != nil {
		return nil, err
	}
	o.Folder = f
	r, err := Filter(ctx, s, o)
	return r, errors.Join(err, f.Close())
}

// TestFilterRunsSameBytes makes every small run by all kernels and on 1, 2 and 7 threads: all files have the same bytes, without times.
// The long test takes all pairs.
func TestFilterRunsSameBytes(t *testing.T) {
	long := testkit.Long(t, 1)
	for name, text := range filterings {
		t.Run(name, func(t *testing.T) {
			want, from := "", ""
			for i, kernel := range lanes.Kernels() {
				restore, err := lanes.SetKernel(kernel)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range threadsOf(i, long) {
					dir := filepath.Join(t.TempDir(), "run")
					if _, err := filterIn(t.Context(), dir, filteringOf(t, text), FilterOptions{Options: Options{Threads: threads}}); err != nil {
						t.Fatal(err)
					}
					got, here := contents(t, dir), fmt.Sprintf("%s, %d threads", kernel, threads)
					if want == "" {
						want, from = got, here
					}
					if got != want {
						t.Errorf("%s:\n%s\n%s:\n%s", from, want, here, got)
					}
				}
				restore()
			}
		})
	}
}

// TestFilterStopAndGoOn stops every small run after every few events, each time on another number of threads and by other kernels: in
// the end the folder has the same bytes as that of a run that was never stopped.
func TestFilterStopAndGoOn(t *testing.T) {
	for name, text := range filterings {
		t.Run(name, func(t *testing.T) {
			s, done, dir := filteringOf(t, text), filepath.Join(t.TempDir(), "done"), filepath.Join(t.TempDir(), "run")
			if _, err := filterIn(t.Context(), done, s, FilterOptions{}); err != nil {
				t.Fatal(err)
			}
			want, stops := contents(t, done), 0
			for ; ; stops++ {
				restore, err := lanes.SetKernel(lanes.Kernels()[stops%len(lanes.Kernels())])
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				left := 3 + stops%3
				_, err = filterIn(ctx, dir, s, FilterOptions{Options: Options{
					Threads: []int{1, 2, 7}[stops%3], Every: time.Duration(1 + stops%2*int(time.Hour)),
					Progress: func(Event) {
						if left--; left == 0 {
							cancel()
						}
					},
				}})
				cancel()
				restore()
				if err == nil {
					break
				}
				if !errors.Is(err, context.Canceled) || stops > 50 {
					t.Fatal(err)
				}
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if _, err := OpenFilterRun(dir); err == nil || !strings.Contains(err.Error(), "--resume") {
					t.Fatalf("an unfinished run opens: %v", err)
				}
			}
			if got := contents(t, dir); got != want || stops == 0 {
				t.Errorf("after %d stops:\n%s\nwithout:\n%s", stops, got, want)
			}
			if _, err := filterIn(t.Context(), dir, s, FilterOptions{}); err != nil || contents(t, dir) != want {
				t.Errorf("a run that is done, gone on with: %v", err)
			}
		})
	}
}

// TestFilterKilledAnywhere copies the folder again and again while a run is at work, which is what a killed process would have left,
// and goes on in the copies.
func TestFilterKilledAnywhere(t *testing.T) {
	for _, name := range []string{"clutter", "nodes", "line", "time"} {
		s, root := filteringOf(t, filterings[name]), t.TempDir()
		dir := filepath.Join(root, "run")
		var copies []string
		keep := func() {
			copies = append(copies, filepath.Join(root, fmt.Sprint("copy", len(copies))))
			testkit.CopyLive(t, copies[len(copies)-1], dir)
		}
		_, err := filterIn(t.Context(), dir, s, FilterOptions{
			Options: Options{Every: 1, Progress: func(Event) { keep() }},
			Line: func(*filtering.Line) error {
				keep()
				return nil
			},
		})
		if err != nil || len(copies) < 24 {
			t.Fatalf("%s: %d copies, %v", name, len(copies), err)
		}
		want := contents(t, dir)
		for i, half := range []string{linesFile, tracksFile, metricsFile} { // the result is written file by file
			end := filepath.Join(root, fmt.Sprint("end", i))
			if err := os.CopyFS(end, os.DirFS(copies[len(copies)-1])); err != nil {
				t.Fatal(err)
			}
			save(t, filepath.Join(end, linesFile), read(t, dir, linesFile))
			save(t, filepath.Join(end, "."+half+".123"), []byte("half"))
			copies = append(copies, end)
		}
		for i, dir := range copies {
			if (testing.Short() || testkit.Race) && i%4 > 0 {
				continue
			}
			if _, err := filterIn(t.Context(), dir, s, FilterOptions{}); err != nil {
				t.Errorf("%s: %v", dir, err)
			} else if got := contents(t, dir); got != want {
				t.Errorf("%s:\n%s\nwant\n%s", dir, got, want)
			}
		}
	}
}

// scene is a text of n scans, of which some cannot be used: by the reader, where the time is not a number, or by the filter.
func scene(n int) (lines []string) {
	for k := 1; k <= n; k++ {
		switch k % 5 {
		case 3:
			lines = append(lines, fmt.Sprintf(`{"time": %d.5, "measurements": [[1]]}`, k)) // no whole number of intervals
		case 4:
			lines = append(lines, fmt.Sprintf(`{"time": %d, "measurements": [[x]]}`, k))
		default:
			lines = append(lines, fmt.Sprintf(`{"time": %d, "measurements": [[%v], null]}`, k, 0.5*float64(k%7)))
		}
	}
	return lines
}

// TestFilterLeavesOutOnce stops a run after each of its scans, and while it waits for the next one. Scans that are left out are counted
// once, and do not make a file another one, however often they are read; the sender of a pipe replays from any time.
func TestFilterLeavesOutOnce(t *testing.T) {
	const model = "seed: 3\nmodel: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}\nscans: {bad: skip}\nmethod: {smcmc: {particles: 20}}\n"
	lines := scene(21)
	for _, piped := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "scans.jsonl")
		save(t, file, []byte(strings.Join(lines, "\n")))
		s := filteringOf(t, model)
		if !piped {
			s = filteringOf(t, model, "scans.file="+file)
		}
		stream := func(from int) io.Reader {
			if !piped {
				return nil
			}
			return strings.NewReader(strings.Join(lines[from:], "\n"))
		}
		done := filepath.Join(t.TempDir(), "done")
		r, err := filterIn(t.Context(), done, s, FilterOptions{Stream: stream(0)})
		if err != nil {
			t.Fatal(err)
		}
		if r.Metrics.Scans != 13 || r.Metrics.LeftOut != 8 || r.Metrics.Missing != 13 {
			t.Errorf("piped %v: %d scans, %d left out, %d missing; want 13, 8, 13", piped, r.Metrics.Scans, r.Metrics.LeftOut, r.Metrics.Missing)
		}
		want := contents(t, done)
		dir, last := filepath.Join(t.TempDir(), "run"), 0
		for stops := 0; ; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := filterIn(ctx, dir, s, FilterOptions{
				Stream: stream(max(0, last-1-stops%3)),
				Options: Options{Every: time.Hour, Progress: func(e Event) {
					if n, ok := e.(*Notice); ok && stops%2 == 1 && strings.Contains(n.Text, "left out: line") {
						cancel() // within a step
					}
				}},
				Line: func(l *filtering.Line) error {
					if stops%2 == 0 || stops%4 == 1 {
						cancel()
					}
					fmt.Sscan(string(l.Time), &last)
					return nil
				},
			})
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || stops > 100 {
				t.Fatalf("piped %v: %v", piped, err)
			}
		}
		if got := contents(t, dir); got != want {
			t.Errorf("piped %v:\n%s\nwant\n%s", piped, got, want)
		}
	}
}

// TestFilteringPage: the config in docs/filtering.md is right.
func TestFilteringPage(t *testing.T) {
	text, err := os.ReadFile("docs/filtering.md")
	if err != nil {
		t.Fatal(err)
	}
	_, config, _ := strings.Cut(string(text), "```yaml\n")
	config, _, ok := strings.Cut(config, "```")
	if s := filteringOf(t, config); !ok || s.Model == nil || s.Against == nil {
		t.Errorf("the page has the config %q", config)
	}
}

// TestFilterProgress: the share of the work is that of the file's bytes, or of the scans to simulate.
func TestFilterProgress(t *testing.T) {
	const model = "model: {linear_gaussian: {a: [[0.9]], q: [[1]], h: [[1]], r: [[4]]}}\nmethod: kalman\n"
	file := filepath.Join(t.TempDir(), "scans.csv")
	text := "time,z,note\n"
	for k := 1; k <= 1000; k++ {
		text += fmt.Sprintf("%d,%d,%500d\n", k, k%7, k)
	}
	save(t, file, []byte(text))
	for _, set := range []string{"scans={file: " + file + ", columns: {measurement: [z]}}", "scans.simulate=500"} {
		var shares []float64
		_, err := Filter(t.Context(), filteringOf(t, model, set), FilterOptions{Options: Options{Progress: func(e Event) {
			if p, ok := e.(*Progress); ok {
				shares = append(shares, p.Share)
			}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		n := len(shares)
		if !slices.IsSorted(shares) || shares[n-1] != 1 {
			t.Errorf("%s: the shares go back, or end with %v", set, shares[n-1])
		}
		if middle := shares[n/2]; !(middle > 0.3 && middle < 0.8) { // the file is read some kilobytes ahead
			t.Errorf("%s: the share in the middle is %v", set, middle)
		}
	}
}

// TestFilterPresetsMix: the chains of the presets' filters mix, so that nothing is said of them. Guided draws are accepted, samples are worth most of
// their number, and no run warns.
func TestFilterPresetsMix(t *testing.T) {
	for _, name := range []string{"gaussian-m500", "range-bearing", "clutter3", "clutter3-crossing"} {
		s, err := PresetFiltering(name, "scans.simulate=4")
		if err != nil {
			t.Fatal(err)
		}
		var lines []filtering.Line
		r, err := Filter(t.Context(), s, FilterOptions{Line: func(l *filtering.Line) error {
			lines = append(lines, *l)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Metrics.RHat == nil || r.Metrics.Apart > 0 {
			t.Errorf("%s: R-hat %v, above 3 in %d scans", name, r.Metrics.RHat, r.Metrics.Apart)
		}
		if least, ok := map[string]float64{"clutter3": 0.9, "clutter3-crossing": 0.8}[name]; ok {
			if m := r.Metrics; !(float64(m.Joint.Mean) >= least) || !(float64(m.ESS.Min) >= 0.7*4000) || finding.Warnings(r.Findings) > 0 || !finding.Has(r.Findings, finding.NearlyNormal{}) {
				t.Errorf("%s: accepted %+v, ESS %+v, %q", name, m.Joint, m.ESS, r.Notes())
			}
		}
		for _, line := range lines {
			for _, e := range (&filtering.Step{Line: line}).All() {
				if len(e.MCSE) != len(e.Mean) {
					t.Errorf("%s: scan %d has the errors %v", name, line.K, e.MCSE)
				}
			}
		}
	}
}

// A run has the findings about its settings beside those about its scans.
func TestFilterFindsSmallFilters(t *testing.T) {
	for repeat, want := range map[int]bool{4: false, 8: true} {
		s := filteringOf(t, filterings["line"], fmt.Sprintf("method.smcmc={particles: 80, repeat: %d, burn: 20}", repeat))
		r, err := Filter(t.Context(), s, FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == "small-filters" })
		if said := strings.Contains(strings.Join(r.Notes(), "\n"), "each of the 8 filters of smcmc has 10 particles, fewer than 32"); found != want || said != want {
			t.Errorf("%d filters: %q", repeat, r.Notes())
		}
	}
}

// A run whose decisions are nearly all made by the sum over all measurements says so, where scans are small or their returns are outside of
// the region; one where a few rows decide does not.
func TestFilterFindsIdleSubsampling(t *testing.T) {
	for name, c := range map[string]struct {
		sets []string
		want bool
	}{
		"healthy": {nil, false},
		"few":     {[]string{"model.clutter.returns.rate=10", "model.clutter.clutter.rate=20", "method.smcmc.decide=subsample"}, true},
		"outside": {[]string{"model.clutter.clutter.region=[60, 90, 60, 90]"}, true},
		"all":     {[]string{"method.smcmc.decide=all"}, false},
	} {
		r, err := Filter(t.Context(), filteringOf(t, filterings["subsampled"], c.sets...), FilterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := r.Metrics
		said := strings.Contains(strings.Join(r.Notes(), "\n"), "Take decide: all")
		if said != c.want || (m.BySum != nil) != (name != "all") || name == "healthy" && m.Residuals == 0 || name == "all" && m.Residuals > 0 {
			t.Errorf("%s: %q, by the sum %+v, %d rows", name, r.Notes(), m.BySum, m.Residuals)
		}
		if name == "healthy" && !(m.BySum.Refine.Max < 0.5 && m.Seen.Refine.Max < 0.7 && m.Passes > 0) {
			t.Errorf("by the sum %+v, seen %+v, %d passes", m.BySum.Refine, m.Seen.Refine, m.Passes)
		}
	}
}

// FuzzParseFiltering: no text makes parsing panic or hang, every fault has a message, and what passes reads back.
func FuzzParseFiltering(f *testing.F) {
	for _, text := range filterings {
		f.Add([]byte(text), "")
		f.Add([]byte(text), "scans.simulate=3")
	}
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		s, err := ParseFiltering("fuzz.yaml", text, set)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error without a message")
			}
			return
		}
		if again, err := ParseFiltering("again", s.YAML()); err != nil || string(again.YAML()) != string(s.YAML()) {
			t.Errorf("%s\nread back: %v\n%s", s.YAML(), err, again.YAML())
		}
	})
}
