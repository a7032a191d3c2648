package data

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// peak is about the largest number of bytes that f has in use at the same time. What f gives up while the collector runs
// still counts, so a busy machine, whose collections take longer, measures too much now and then.
func peak(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	now := func() uint64 {
		runtime.GC()
		metrics.Read(live)
		return live[0].Value.Uint64()
	}
	before, most, done := now(), uint64(0), make(chan bool)
	go func() {
		f()
		close(done)
	}()
	for {
		select {
		case <-done:
			return most - min(most, before)
		default:
			most = max(most, now())
		}
	}
}

// TestLoadBytes: the estimate is near what loading has in use at its peak, for every kind of file, and costs binary.LittleEndian.
func TestLoadBytes(t *testing.T) {
	testkit.NoThreads(t)
	const n = 1 << 16
	dir := t.TempDir()
	file := func(name string, raw []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var digits, names, numbers, words, gaps strings.Builder
	words.WriteString("id,street,x,town,y\n")
	gaps.WriteString("a,b,c,d,y\n")
	names.WriteString("a,b,c,y\n")
	for i := range n {
		fmt.Fprintf(&digits, "%d,%d,%d,%d\n", i%10, i%9, i%7, i%2)
		fmt.Fprintf(&names, "%d,%d,%d,%s\r\n", i%10, i%9, i%7, []string{"yes", "no"}[i%2])
		fmt.Fprintf(&numbers, "%v;%v\n", float64(i)/7, float64(i%100)/3)
		if i < n/8 {
			fmt.Fprintf(&words, "id%d,street %d,%d,town %d,%d\n", i, i*i%601, i%9, i%83, i%2)
		}
		fmt.Fprintf(&gaps, "%[1]s,%[1]s,%[1]s,%[1]s,%[2]d\n", []string{"", "1", "2.5"}[i%3], i%2)
	}
	values := make([]byte, 8*8*n)
	for i := range values {
		values[i] = byte(i / 8 % 61)
	}
	labels := append([]byte{0, 0, 8, 1, 0, 1, 0, 0}, make([]byte, n)...)
	for i := range n {
		labels[8+i] = byte(i % 2)
	}
	images := append([]byte{0, 0, 8, 3, 0, 1, 0, 0, 0, 0, 0, 8, 0, 0, 0, 8}, values[:64*n]...)
	fortran := testkit.NPYBytes(fmt.Sprintf("{'descr': '<f8', 'fortran_order': True, 'shape': (%d, 8)}", n), values...)
	arrays := func(inputs string) Settings { return Settings{Train: &Arrays{inputs, file("y.idx", labels)}} }
	table := func(text string, o CSV) Settings {
		o.File = file(fmt.Sprintf("%s%d.csv", o.Target, len(text)), []byte(text))
		return Settings{CSV: &o}
	}
	for name, c := range map[string]struct {
		s    Settings
		need Need
	}{
		"digits":        {table(digits.String(), CSV{Target: "4", Header: &no}), Need{}},
		"names":         {table(names.String(), CSV{Target: "y"}), Need{}},
		"words":         {table(words.String(), CSV{Target: "y"}), Need{}},
		"words dropped": {table(words.String(), CSV{Target: "y", Drop: []string{"street"}}), Need{}},
		"gaps":          {table(gaps.String(), CSV{Target: "y", Missing: "indicator"}), Need{}},
		"numbers":       {table(numbers.String(), CSV{Target: "2", Delimiter: ";"}), Need{Regression: true}},
		"images":        {arrays(file("x.idx", images)), Need{}},
		"packed images": {arrays(file("x.idx.gz", testkit.Gzipped(t, images))), Need{}},
		"float64":       {arrays(file("x.npy", testkit.NPYOf("<f8", fmt.Sprintf("(%d, 8)", n), values...))), Need{}},
		"Fortran order": {arrays(file("f.npy", fortran)), Need{}},
		"with a group":  {Settings{CSV: table(digits.String(), CSV{Target: "4", Header: &no}).CSV, Groups: []GroupFile{{"g", file("g.csv", []byte(digits.String()))}}}, Need{}},
		"standardised":  {Settings{Train: arrays(file("s.idx", images)).Train, Standardise: "inputs"}, Need{}},
		"nothing there": {Settings{CSV: &CSV{File: filepath.Join(dir, "none"), Target: "y"}}, Need{}},
		"a known set":   {Settings{Set: "mnist7"}, Need{}},
	} {
		estimate := float64(0)
		if cost := testkit.Allocated(func() { estimate = float64(c.s.LoadBytes("")) }); cost > 4<<20 {
			t.Errorf("%s: the estimate allocates %d bytes", name, cost)
		}
		if name == "nothing there" || name == "a known set" {
			if estimate != 0 {
				t.Errorf("%s: %v bytes", name, estimate)
			}
			continue
		}
		// One measurement may be off on a busy machine. Estimates that forget a part are wrong in all of them.
		agrees := false
		for try := 0; try < 4 && !agrees; try++ {
			var err error
			got := float64(peak(func() { _, err = c.s.Load("", c.need) }))
			t.Logf("%s: estimate %.1f MB, peak %.1f MB, %v", name, estimate/1e6, got/1e6, err)
			agrees = err == nil && estimate > 0.7*got && estimate < 3*got
		}
		if !agrees {
			t.Errorf("%s: the estimate of %.1f MB is not near what loading takes", name, estimate/1e6)
		}
	}
}
