package config

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestBounds: what is larger than a config is refused with its place and the bound, before it costs more than its length.
func TestBounds(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	deep := "more than 32 lists and mappings inside each other"
	for name, c := range map[string]struct{ text, want string }{
		"bytes":          {strings.Repeat(" ", 1<<20+1), "g.yaml: 1048577 bytes, more than the 1048576 that a config may have"},
		"brackets":       {strings.Repeat("[", 50_000), "g.yaml:1: " + deep},
		"braces":         {strings.Repeat("{a: ", 50_000), "g.yaml:1: " + deep},
		"dashes":         {strings.Repeat("- ", 50_000), "g.yaml:1: " + deep},
		"indentation":    {indented(40), "g.yaml:33:33: " + deep},
		"pairs in lists": {strings.Repeat("[a: ", 50_000), "g.yaml:1: " + deep},
		"keys":           {"labels:\n" + many(20_000, " k%d: x\n"), "g.yaml:10001:2: more than 10000 keys"},
		"keys in braces": {"{" + many(20_000, "k%d: x, ") + "}", "g.yaml:1:98892: more than 10000 keys"},
		"items":          {"[" + strings.Repeat("a,", 200_000) + "]", "g.yaml:1:200000: more than 100000 values"},
		"items in lines": {strings.Repeat("-\n", 200_000), "g.yaml:100000:2: more than 100000 values"},
		"a long key":     {"labels: {" + strings.Repeat("k", 201) + ": x}", `g.yaml:1:10: key "` + strings.Repeat("k", 60) + `"… has more than 200 bytes`},
		"aliases":        {"a: &a [x]\nb: [*a, *a]", "g.yaml:1:4: anchor is not used in configs: write the value itself"},
	} {
		if _, _, err := parseGarden(c.text); err == nil || err.Error() != c.want {
			t.Errorf("%s: %.300v, want %s", name, err, c.want)
		}
	}
	_, _, err := parseGarden("rows: [mint]", "name="+strings.Repeat("[", 40)+strings.Repeat("]", 40))
	if err == nil || !strings.HasSuffix(err.Error(), "is not a YAML value: "+deep) {
		t.Errorf("--set: %v", err)
	}
	if n, f := parseValue([]byte(strings.Repeat("[", 32) + strings.Repeat("]", 32))); f != nil || !n.list {
		t.Errorf("32 lists: %v", f)
	}
}

func indented(levels int) string {
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, "%*sa:\n", i, "")
	}
	return b.String()
}

// hostile are texts of about n bytes that cost other readers of YAML a square of n, or that cost decoders one.
var hostile = map[string]func(n int) string{
	"brackets":        func(n int) string { return strings.Repeat("[", n) },
	"tabs in quotes":  func(n int) string { return "name: \"a" + strings.Repeat("\t", n) + "\"" },
	"blank lines":     func(n int) string { return "name: a" + strings.Repeat("\n", n) + "seed: 3" },
	"escapes":         func(n int) string { return "name: \"" + strings.Repeat(`\n`, n/2) + "\"" },
	"merge signs":     func(n int) string { return "name: " + strings.Repeat("<", n) },
	"documents":       func(n int) string { return strings.Repeat("---\na\n", n/6) },
	"nulls":           func(n int) string { return "tools:\n" + strings.Repeat("-\n", n/2) },
	"items":           func(n int) string { return "tools: [" + strings.Repeat("a,", n/2) + "]" },
	"one line":        func(n int) string { return "tools: [" + strings.Repeat("[],", n/3) + "]" },
	"a long name":     func(n int) string { return "name: " + strings.Repeat("a", n) },
	"unknown keys":    func(n int) string { return lines(n/10, "key%05d:") },
	"pairs":           func(n int) string { return "labels:\n" + lines(n/10, " k%05d: ''") },
	"faults in parts": func(n int) string { return "beds:\n" + lines(n/16, "- {nails: 0%.0d}") },
}

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// TestLinear: four times the text takes about four times the memory, of which a square of the length would be sixteen times.
// Memory stands for time too: it is the same each time.
func TestLinear(t *testing.T) {
	spent := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		parseGarden(text)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, text := range hostile {
		once, four := spent(text(20_000)), spent(text(80_000))
		if four > 8*once+1<<20 || four > 80_000*4000 {
			t.Errorf("%s: %d bytes for a text of 20,000 bytes, %d for one of 80,000", name, once, four)
		}
	}
}

// BenchmarkHostile: time in proportion to the length, for texts of every kind.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile {
		for _, n := range []int{20_000, 80_000, 320_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				all := text(n)
				for b.Loop() {
					parseGarden(all)
				}
			})
		}
	}
}
