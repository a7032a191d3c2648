package config

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/starling-smc/starling/internal/rng"
	"github.com/starling-smc/starling/internal/testkit"
)

// TestEncode: blocks where a line would be too long, short forms, and nothing that reading leads to anyhow.
func TestEncode(t *testing.T) {
	for text, want := range map[string]string{
		"rows: [mint]": "name: plot\nseed: 0\nsize: 0\nrows: [mint]\ntended: always\n",
		"{name: 'yes', seed: 3, size: [1, 2], rows: [{beans: 8}, {beans: {poles: 8, gap: 3}}, {beans: 1, label: 'a: b'}, {grass: {}, label: c}, {lawn: {}}]," +
			"labels: {'<<': x<<, 'a b': '1', '': '#'}, water: {litres: 1e-9, until: rain}, soil: {sand: 3, from: sea}, tended: {height: 0.1}}": `name: "yes"
seed: 3
size: [1, 2]
rows:
  - {beans: 8}
  - {beans: {poles: 8, gap: 3, height: 1.5}}
  - {beans: 1, label: "a: b"}
  - {grass: {}, label: c}
  - {lawn: {every: 3}}
soil: {sand: 3, from: sea}
water: {litres: 1e-09, times: 2}
labels: {"<<": "x<<", a b: "1", "": "#"}
tended: {height: 0.1}
`,
	} {
		g, _, err := parseGarden(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, roundTrip(t, g)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if got := string(Encode(garden{Rows: []Plant{stone{}}, Soil: soil{Ground: dust{}}}, families...)); !strings.Contains(got, "rows: [config.stone]\nsoil: {config.dust: {}}\n") {
		t.Errorf("parts that no table has:\n%s", got)
	}
}

type dust struct{}

func (dust) ground() {}

// TestEncodeWhatDefaultsMake: a zero that was written over a default is not left out, although the field may be.
func TestEncodeWhatDefaultsMake(t *testing.T) {
	v, _, err := Parse[shed]("x", []byte("{roof: false, doors: 0}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(Encode(v)), "roof: false\ndoors: 0\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := string(Encode(&shed{Roof: true, Doors: 1})); got != "roof: true\ndoors: 1\n" {
		t.Error(got)
	}
	if v, _, err = Parse[shed]("x", nil, nil); err != nil || v != (shed{Roof: true, Doors: 1}) {
		t.Errorf("%+v, %v", v, err)
	}
}

type shed struct {
	Roof    bool `yaml:"roof,omitempty"`
	Doors   int  `yaml:"doors,omitempty,zero"`
	Windows int  `yaml:"windows,omitempty"`
}

func (s *shed) Defaults() {
	s.Roof = true
	if s.Doors == 0 {
		s.Doors = 1
	}
}

// TestScalar: a text reads back as the same text, as a value, as a key, and inside {…}.
func TestScalar(t *testing.T) {
	for _, plain := range []string{"a", "my data.csv", "a-b_c/d", "ß", ";", "2024-01-01", "x.y", "(1)", "don~t"} {
		if got := Scalar(plain); got != plain {
			t.Errorf("%q is written %s", plain, got)
		}
	}
	texts := []string{"", " ", " a", "a ", "~", "null", "Null", "true", "False", "yes", "N", "on", "1", "-1", "+1", "1.5", "1e3", "0x1F", "0o7", ".inf", "-.INF", ".nan",
		"-", "- a", "--", "---", "...", "?", "? a", "=", "<<", "x<<", "<<x", "a<<: b", ":", "a:", "a: b", "#", "a #b", "&a", "*a", "!a", "|", ">", "%", "@", "`", "'", "\"", "\\",
		"{", "}", "[", "]", ",", "a,b", "\n", "a\nb", "\t", "\r\n", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\u00a0", "😀", "\U000e0001", "1_000", "12:30:45", "0b1", "a\\nb", "1e999", "e"}
	for _, text := range texts {
		s := Scalar(text)
		key := func(n *node) any { return n.keys[0].name }
		item := func(n *node) any { return n.items[0].scalar }
		for form, get := range map[string]func(*node) any{
			"%s": func(n *node) any { return n.scalar }, "%s: x": key, "{%s: x}": key, "{a: 1, %s: x}": func(n *node) any { return n.keys[1].name },
			"- %s": item, "[%s, %s]": item, "a: %s": item, "{a: %s}": item, "a:\n  %s: 3": func(n *node) any { return n.items[0].keys[0].name },
		} {
			n, f := parseValue([]byte(strings.ReplaceAll(form, "%s", s)))
			if f != nil {
				t.Errorf("%q as %s in %s: %s", text, s, form, f.message)
			} else if got := get(n); got != text {
				t.Errorf("%q as %s in %s: reads back as %v", text, s, form, got)
			}
		}
	}
}

// TestKeys lists every key once, also where a part holds a part.
func TestKeys(t *testing.T) {
	want := strings.Fields(`name seed size beds beds.N beds.N.width beds.N.raised beds.N.wood beds.N.nails
		rows rows.N rows.N.beans rows.N.beans.poles rows.N.beans.gap rows.N.beans.mulch rows.N.beans.height rows.N.label
		rows.N.lawn rows.N.lawn.every rows.N.hedge rows.N.hedge.every rows.N.under rows.N.under.of rows.N.under.deep
		soil soil.sand soil.sand.grain soil.from soil.sand.sieve soil.sand.sieve.N soil.sand.mesh soil.worms
		water water.litres water.times water.until labels labels.NAME tools tools.N colour colour.N tended tended.height`)
	if d := cmp.Diff(want, Keys[garden](families...)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDiff: the values that differ, by their paths.
func TestDiff(t *testing.T) {
	if err := Diff([]byte("a: 1\n"), []byte("a: 1\n")); err != nil {
		t.Error(err)
	}
	if err := Diff([]byte("a: 1\nb: {c: x}\n"), []byte("b: {c: x}\na: 1\n")); err != nil {
		t.Errorf("another order: %v", err)
	}
	err := Diff([]byte("a: 1\nb: {c: x, d: [1, 2]}\n"), []byte("a: 2\nb: {d: [1], e: z}\n"))
	if want := "a: 2, but the run was begun with 1\nb.e: z, but the run was begun without it\nb.c: not set, but the run was begun with x\nb.d.1: not set, but the run was begun with 2"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var was, is strings.Builder
	for i := range 10 {
		fmt.Fprintf(&was, "k%d: 1\n", i)
		fmt.Fprintf(&is, "k%d: 2\n", i)
	}
	if lines := strings.Split(Diff([]byte(was.String()), []byte(is.String())).Error(), "\n"); len(lines) != 9 || lines[7] != "k7: 2, but the run was begun with 1" || lines[8] != "… and 2 more" {
		t.Errorf("%q", lines)
	}
	if err := Diff([]byte("a: ["), []byte("a: 1")); err == nil || !strings.HasPrefix(err.Error(), "the config as it was: ") {
		t.Error(err)
	}
	if err := Diff([]byte("a: 1"), []byte("a: [")); err == nil || !strings.HasPrefix(err.Error(), "the config as it is: ") {
		t.Error(err)
	}
}

// TestRoundTrip: whatever is parsed is written, read again to the same value, and written again in the same bytes.
func TestRoundTrip(t *testing.T) {
	for i := range 300 {
		d := draw{rng.Key{Seed: 1, Island: i}.Stream()}
		g := d.garden()
		text := Encode(g, families...)
		got, _, err := parseGarden(string(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(g, got, structs); d != "" {
			t.Fatalf("(-written +read):\n%s\n%s", d, text)
		}
		roundTrip(t, got)
	}
}

// draw makes random gardens that pass their checks, with the defaults filled in.
type draw struct{ *rng.Stream }

func (d draw) often() bool { return d.IntN(3) > 0 }

func (d draw) text() string {
	if d.often() {
		return oneOf(d, "a", "oak tree", "x<<", "<<", "yes", "null", "1", "1e3", "0x1F", "~", "- a", "a: b", "{a}", "#", "'", "a\nb", " a", "\t", "ß", "\u2028", "-", "?")
	}
	runes := make([]rune, 1+d.IntN(4))
	for i := range runes {
		runes[i] = oneOf(d, rune(d.IntN(128)), rune(d.IntN(0xd800)), rune(0xe000+d.IntN(0x2000)), rune(0x10000+d.IntN(0x100000)))
	}
	return string(runes)
}

func oneOf[T any](d draw, values ...T) T { return values[d.IntN(len(values))] }

func (d draw) float() float64 {
	for {
		if v := oneOf(d, d.Float64(), math.Float64frombits(d.Uint64()), float64(d.IntN(1000)), 1e22, 1e-7, float64(1<<53+2)); v > 0 && !math.IsInf(v, 0) {
			return v
		}
	}
}

func list[T any](d draw, item func() T) (out []T) {
	for range d.IntN(5) {
		out = append(out, item())
	}
	return out
}

func (d draw) garden() garden {
	g := garden{
		Name: d.text(), Seed: oneOf(d, 0, 1, d.Uint64()), Size: oneOf(d, [2]int{}, [2]int{3, 3}, [2]int{0, -1 << 53}),
		Beds: list(d, d.bed), Rows: append(list(d, func() Plant { return d.plant(0) }), herb(0)), Tools: list(d, d.text), Colour: oneOf(d, nil, []string{}, []string{d.text()}, []string{d.text(), d.text()}),
		Soil: soil{Worms: d.often()}, Tended: oneOf[Tending](d, always{}, never{}, below(0.25), below(0.5)),
	}
	if len(g.Rows) > 5 {
		g.Rows = g.Rows[:5]
	}
	g.Soil.Ground = oneOf[Ground](d, clay{}, sand{Grain: d.float()}, sand{Grain: d.float(), From: d.text(), Sieve: []int{}, Mesh: pointer(0.0)},
		sand{Grain: d.float(), Sieve: list(d, func() int { return d.IntN(9) }), Mesh: pointer(d.float())})
	if d.often() {
		g.Water = &water{1 + d.Float64(), oneOf(d, 2, 4, -1), oneOf(d, 0, -2, -3, d.float())}
	}
	taken := map[string]bool{}
	for _, name := range list(d, d.text) {
		if !taken[name] {
			g.Labels = append(g.Labels, label{name, d.text()})
		}
		taken[name] = true
	}
	return g
}

func (d draw) bed() bed {
	return bed{Width: oneOf(d, 0, d.float(), -d.float()), Raised: oneOf(d, nil, pointer(false), pointer(true)), frame: frame{oneOf(d, "", d.text()), 1 + d.IntN(9)}}
}

func (d draw) plant(depth int) Plant {
	poles := 1 + d.IntN(3)
	b := beans{poles, [2]int{poles, poles}, false, 1.5, oneOf(d, "", d.text())}
	switch d.IntN(4) {
	case 0:
		b.Gap[d.IntN(2)], b.NoMulch = 2, d.often()
	case 1:
		b.Height = oneOf(d, 0, 1, d.float())
	}
	deep := Plant(herb(1))
	if depth < 3 {
		deep = under{Of: Plant(herb(0)), Deep: d.IntN(2)}
		if d.often() {
			deep = under{Of: d.plant(depth + 1)}
		}
	}
	return oneOf[Plant](d, b, b, grass{}, grass{d.text()}, herb(d.IntN(2)), cut{d.often(), 1 + d.IntN(4)}, deep)
}

// FuzzParse: no text makes parsing panic, every fault has a message, and what passes is written and reads back the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"rows: [mint, {beans: {poles: 3, mulch: false}, label: a}, {under: {of: grass}}]", "beds: [{width: 1e-3, raised: true, wood: 'x<<'}]\nsoil: {sand: 1, from: x}",
		"{rows: [sage], water: {times: often, until: rain}, labels: {a: b, '<<': c}, tended: {height: 0.3}, size: [1, 2], name: \"\\ud800\\xff\"}",
		"rows: [{beans: 1, lawn: {}}]\nwater:\n", "name: |\n  a\n  b\nrows: [mint]", "rows:\n- {hedge: {every: 0x1F}}\nseed: 0o17\ntools: [007, 1_000, 1e3]",
	} {
		f.Add(text, "")
		f.Add(text, "water.litres=3")
		f.Add(text, "rows.0=null")
	}
	for _, archive := range testkit.Archives(f, "../../testdata/config") {
		for _, file := range archive.Files {
			f.Add(string(file.Data), "")
		}
	}
	f.Fuzz(func(t *testing.T, text, set string) {
		var sets []string
		if set != "" {
			sets = append(sets, set)
		}
		g, _, err := parseGarden(text, sets...)
		if err == nil {
			roundTrip(t, g)
		} else if strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without a message")
		}
	})
}
