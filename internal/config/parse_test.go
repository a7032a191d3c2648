package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pointer[T any](v T) *T { return &v }

var structs = cmp.AllowUnexported(garden{}, bed{})

// TestParse compares what is written with the value that it stands for, defaults filled in.
func TestParse(t *testing.T) {
	base := func(change func(*garden)) garden {
		g := garden{Name: "plot", Rows: []Plant{herb(0)}, Tended: always{}}
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		text string
		sets []string
		want garden
	}{
		"defaults":  {"rows: [mint]", nil, base(func(*garden) {})},
		"two types": {"rows: [sage]", nil, base(func(g *garden) { g.Rows = []Plant{herb(1)} })},
		"scalars": {"rows: [mint]\nname: \"007\"\nseed: 18446744073709551615\nsize: [1, 0]\ntools: [3, 0x1F, a b]", nil, base(func(g *garden) {
			g.Name, g.Seed, g.Size, g.Tools = "007", 18446744073709551615, [2]int{1, 0}, []string{"3", "0x1F", "a b"}
		})},
		"a list of one":    {"rows: [mint]\ncolour: red", nil, base(func(g *garden) { g.Colour = []string{"red"} })},
		"a list of more":   {"rows: [mint]\ncolour: [red, 3]", nil, base(func(g *garden) { g.Colour = []string{"red", "3"} })},
		"digits as a name": {"rows: [mint]\nname: 007", nil, base(func(g *garden) { g.Name = "007" })},
		"one for all":      {"rows: [mint]\nsize: 1e2", nil, base(func(g *garden) { g.Size = [2]int{100, 100} })},
		"short": {"rows: [{beans: 8}, {beans: {poles: 8}}]", nil, base(func(g *garden) {
			b := beans{Poles: 8, Gap: [2]int{8, 8}, Height: 1.5}
			g.Rows = []Plant{b, b}
		})},
		"the row's own part is the start": {"rows: [{beans: {}}, {hedge: {every: 1}}, {lawn: {}}]", nil, base(func(g *garden) {
			g.Rows = []Plant{beans{Poles: 2, Gap: [2]int{2, 2}, Height: 1.5}, cut{Hedge: true, Every: 1}, cut{Every: 3}}
		})},
		"beside, not, zero": {"rows: [{label: a, beans: {mulch: false, height: 0}}, {grass: {}, label: b}, grass]", nil, base(func(g *garden) {
			g.Rows = []Plant{beans{Poles: 2, Gap: [2]int{2, 2}, NoMulch: true, Label: "a"}, grass{"b"}, grass{}}
		})},
		"a part in a part": {"rows: [{under: {of: {under: {of: {beans: 3}, deep: 2}}}}]", nil, base(func(g *garden) {
			g.Rows = []Plant{under{Of: under{Of: beans{Poles: 3, Gap: [2]int{3, 3}, Height: 1.5}, Deep: 2}}}
		})},
		"embedded":        {"beds: [{width: -0.0, raised: false, wood: oak, nails: 2}, {}]\nrows: [mint]", nil, base(func(g *garden) { g.Beds = []bed{{0, pointer(false), frame{"oak", 2}}, {0, nil, frame{"", 4}}} })},
		"inline":          {"rows: [mint]\nsoil: {sand: 0.2, worms: true, from: sea}", nil, base(func(g *garden) { g.Soil = soil{sand{Grain: 0.2, From: "sea"}, true} })},
		"inline, a name":  {"rows: [mint]\nsoil: {clay: {}}", nil, base(func(g *garden) { g.Soil = soil{Ground: clay{}} })},
		"pointer to zero": {"rows: [mint]\nsoil: {sand: {mesh: 0, sieve: []}}", nil, base(func(g *garden) { g.Soil = soil{Ground: sand{Grain: 0.1, Mesh: pointer(0.0), Sieve: []int{}}} })},
		"words":           {"rows: [mint]\nwater: {times: often, until: forever}", nil, base(func(g *garden) { g.Water = &water{10, -1, -2} })},
		"a word for zero": {"rows: [mint]\nwater: {until: rain}", nil, base(func(g *garden) { g.Water = &water{10, 2, 0} })},
		"outer defaults":  {"rows: [mint]\nwater: {}\nseed: 7", nil, base(func(g *garden) { g.Seed, g.Water = 7, &water{70, 2, 0} })},
		"what is written stands over outer defaults": {"rows: [mint]\nwater: {litres: 3}\nseed: 7", nil, base(func(g *garden) { g.Seed, g.Water = 7, &water{3, 2, 0} })},
		"pairs":    {"rows: [mint]\nlabels: {z: 1.png, a: b.png, none: }", nil, base(func(g *garden) { g.Labels = []label{{"z", "1.png"}, {"a", "b.png"}} })},
		"a number": {"rows: [mint]\ntended: {height: 0.25}", nil, base(func(g *garden) { g.Tended = below(0.25) })},
		"names of parts with settings": {"rows: [beans, lawn]", []string{"rows.1=hedge"}, base(func(g *garden) {
			g.Rows = []Plant{beans{Poles: 2, Gap: [2]int{2, 2}, Height: 1.5}, cut{Hedge: true, Every: 3}}
		})},
		"settings of a name": {"rows: [lawn, beans]", []string{"rows.0.lawn.every=5", "rows.1=under", "rows.1.under.of=mint", "rows.1.under={of: sage}"}, base(func(g *garden) {
			g.Rows = []Plant{cut{Every: 5}, under{Of: herb(1)}}
		})},
		"a name":        {"rows: [mint]\ntended: never", nil, base(func(g *garden) { g.Tended = never{} })},
		"empty default": {"rows: [mint]\ntended: {}", nil, base(func(*garden) {})},
		"null":          {"rows: [mint]\nname:\nseed: ~\nbeds:\nsoil: {sand: }\nwater: null\nlabels:\ntended:", nil, base(func(*garden) {})},
		"set over": {"rows: [mint]\nname: a\nwater: {times: 4}", []string{"name=b", "water.litres=2", "rows.0={beans: 4}", "rows.0.beans=5", "size=[1, 2]"}, base(func(g *garden) {
			g.Name, g.Water, g.Size, g.Rows = "b", &water{2, 4, 0}, [2]int{1, 2}, []Plant{beans{5, [2]int{5, 5}, false, 1.5, ""}}
		})},
		"set null":       {"rows: [mint]\nwater: {times: 4}\nsoil: {sand: 1}", []string{"water=null", "soil.sand=~", "soil.clay={}"}, base(func(g *garden) { g.Soil = soil{Ground: clay{}} })},
		"set null below": {"rows: [mint]", []string{"water.times=null", "soil.sand.grain=null"}, base(func(*garden) {})},
		"set on null":    {"rows: [mint]\nwater:", []string{"water.times=null", "water.litres=4"}, base(func(g *garden) { g.Water = &water{4, 2, 0} })},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := parseGarden(c.text, c.sets...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, structs); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			roundTrip(t, got)
		})
	}
}

// roundTrip writes what was parsed and reads it again.
func roundTrip(t *testing.T, g garden) string {
	t.Helper()
	text := Encode(g, families...)
	again, _, err := parseGarden(string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if d := cmp.Diff(g, again, structs); d != "" {
		t.Errorf("reads back differently (-first +again):\n%s\n%s", d, text)
	}
	if more := Encode(&again, families...); string(more) != string(text) {
		t.Errorf("written twice:\n%s\n%s", text, more)
	}
	return string(text)
}

// TestFaults: every fault has its place and its sentence, and all are listed at once, those of checks too.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		sets []string
		want string
	}{
		"empty":         {"# nothing", nil, "g.yaml:1:1: rows: needs a plant or a bed"},
		"null":          {"null", nil, "g.yaml:1:1: rows: needs a plant or a bed"},
		"text":          {"just a text", nil, `g.yaml:1:1: want a mapping of name, seed, size, beds, rows, soil, water, labels, tools, colour, tended, have "just a text"`},
		"long text":     {strings.Repeat("x", 70), nil, `g.yaml:1:1: want a mapping of name, seed, size, beds, rows, soil, water, labels, tools, colour, tended, have "` + strings.Repeat("x", 60) + `"…`},
		"text and sets": {strings.Repeat("x", 70), []string{"rows=[mint]", "a.b=1", "a"}, `g.yaml:1:1: want a mapping of name, seed, size, beds, rows, soil, water, labels, tools, colour, tended, have "` + strings.Repeat("x", 60) + `"…`},
		"list and sets": {"[mint]", []string{"0.x=1"}, "g.yaml:1:1: want a mapping of name, seed, size, beds, rows, soil, water, labels, tools, colour, tended, have a list"},
		"set in a text": {"name: " + strings.Repeat("x", 70), []string{"name.a=1"}, `--set name.a=1: name is "` + strings.Repeat("x", 60) + `"…, which has no part "a"`},
		"not UTF-8":     {"\xff\xfe", nil, "g.yaml: the text is not UTF-8: save it as UTF-8"},
		"tab":           {"soil:\n\tclay: {}", nil, "g.yaml:2:1: a tab, which YAML does not take: indent by blanks"},
		"twice":         {"name: a\nname: b", nil, `g.yaml:2:1: key "name" is there twice, first in line 1`},
		"two documents": {"name: a\n---\nname: b", nil, "g.yaml:2:1: a second document; a config has only one"},
		"anchor":        {"name: &x a", nil, "g.yaml:1:7: anchor is not used in configs: write the value itself"},
		"alias":         {"name: *x", nil, "g.yaml: alias is not used in configs: write the value itself"},
		"tag":           {"name: !!str x", nil, "g.yaml:1:7: tag is not used in configs: write the value itself"},
		"merge":         {"soil: {<<: {worms: true}}", nil, "g.yaml:1:8: key <<: want a name"},
		"number as key": {"1: a", nil, "g.yaml:1:1: key 1: want a name"},
		"unknown": {"nmae: x\nsoil: {wroms: true, zzz: 1}\nrows: [baens, {beens: 2}, {x: 1, label: y}]\ntended: 3\nbeds: [{nail: 200}]", nil,
			`g.yaml:1:1: unknown key "nmae": did you mean "name"? (known: name, seed, size, beds, rows, soil, water, labels, tools, colour, tended)
g.yaml:2:8: soil: unknown key "wroms": did you mean "worms"? (known: sand, clay, worms)
g.yaml:2:21: soil: unknown key "zzz" (known: sand, clay, worms)
g.yaml:3:8: rows.0: unknown plant "baens": did you mean "beans"? (known: beans, grass, mint, sage, lawn, hedge, under)
g.yaml:3:16: rows.1: unknown plant "beens": did you mean "beans"? (known: beans, grass, mint, sage, lawn, hedge, under)
g.yaml:3:28: rows.2: unknown plant "x" (known: beans, grass, mint, sage, lawn, hedge, under)
g.yaml:4:9: tended: want always, never or {height: 0.5}, have 3
g.yaml:5:9: beds.0: unknown key "nail": did you mean "nails"? (known: width, raised, wood, nails)`},
		"kinds": {"name: [a]\nseed: -1\nsize: [1, 2, 3]\nbeds: {}\nrows: 3\nsoil: 4\nwater: {litres: .nan, times: 9007199254740993, until: x}\nlabels: [a]\ntools: [true]", nil,
			`g.yaml:1:7: name: want a name, have a list
g.yaml:2:7: seed: want a whole number from 0, have -1
g.yaml:3:7: size: want one value or a list of 2, have a list of 3
g.yaml:4:7: beds: want a list, as in […, …], have a mapping
g.yaml:5:7: rows: want a list, as in […, …], have 3
g.yaml:6:7: soil: want a mapping of sand, clay, worms, have 4
g.yaml:7:17: water.litres: want a number, have NaN
g.yaml:7:30: water.times: want a whole number or often, have 9007199254740993
g.yaml:7:55: water.until: want a number, rain or forever, have "x"
g.yaml:8:9: labels: want plants and files, as in {plant: file}, have a list
g.yaml:9:9: tools.0: want a name, have true`},
		"numbers": {"rows: [{beans: 2.5}, {beans: {mulch: 1, gap: [1, .inf]}}, ]\nseed: 1.5\nwater: {times: -1, until: 0}\nsoil: {sand: {sieve: 3}}", nil,
			`g.yaml:1:16: rows.0.beans: want a whole number, have 2.5
g.yaml:1:38: rows.1.beans.mulch: want true or false, have 1
g.yaml:1:50: rows.1.beans.gap.1: want a whole number, have +Inf
g.yaml:2:7: seed: want a whole number from 0, have 1.5
g.yaml:3:16: water.times: want a whole number or often, have -1
g.yaml:3:27: water.until: want a number, rain or forever, have 0
g.yaml:4:22: soil.sand.sieve: want a list, as in [1, 28, 28], have 3`},
		"lists of nothing": {"rows: [null, {}, {lawn: }]\nbeds: [~]\ntools: [null]", nil,
			`g.yaml:1:8: rows.0: want {beans: poles}, grass, mint, sage, {lawn: {every: 3}}, {hedge: {every: 3}} or {under: …}, have nothing
g.yaml:1:14: rows.1: want one of beans, grass, hedge, lawn, mint, sage, under
g.yaml:1:25: rows.2.lawn: is empty: give it settings, as in {lawn: {every: 3}}, or write its name alone for the defaults
g.yaml:2:8: beds.0: want a mapping of width, raised, wood, nails, have nothing
g.yaml:3:9: tools.0: want a name, have nothing`},
		"forms": {"rows: [beans, {mint: 3}, {mint: {}}, {lawn: 3}, {label: x}]\nsoil: {clay: 3}\ntended: height", nil,
			`g.yaml:1:22: rows.1: mint has no settings: write it as a name
g.yaml:1:33: rows.2: mint has no settings: write it as a name
g.yaml:1:45: rows.3.lawn: want a mapping of every, have 3
g.yaml:1:50: rows.4: want one of beans, grass, hedge, lawn, mint, sage, under
g.yaml:2:14: soil.clay: clay has no settings: write it as {clay: {}}
g.yaml:3:9: tended: height needs its settings, as in {height: 0.5}`},
		"a name whose defaults do not suffice": {"rows: [mint, under]", nil, "g.yaml:1:14: rows.1.under.of: needs a plant"},
		"a step that is not the name":          {"rows: [beans]", []string{"rows.0.lawn.every=2"}, `--set rows.0.lawn.every=2: rows.0 is "beans", which has no part "lawn"`},
		"beside what it stands inside": {"rows: [{beans: 3, mulch: false}, {beans: {gap: 2}, height: 1}, {gap: 2, lawn: {every: 1}}]\nsoil: {sand: 0.5, sieve: [1]}", nil,
			`g.yaml:1:19: rows.0.mulch: stands inside beans, as in beans: {poles: 3, mulch: false}
g.yaml:1:52: rows.1.height: stands inside beans, as in beans: {gap: 2, height: 1}
g.yaml:1:65: rows.2: unknown plant "gap" (known: beans, grass, mint, sage, lawn, hedge, under)
g.yaml:2:19: soil.sieve: stands inside sand, as in sand: {grain: 0.5, sieve: [1]}`},
		"two parts": {"rows: [{lawn: {evry: 1}, beans: 0, grass: 1, mint: {}}]\nsoil: {sand: 1, clay: {}}", nil,
			`g.yaml:1:9: rows.0: has beans and grass and lawn and mint: want one of them
g.yaml:1:16: rows.0.lawn: unknown key "evry": did you mean "every"? (known: every)
g.yaml:1:33: rows.0.beans: want at least 1, have 0
g.yaml:1:33: rows.0.beans.gap: want a gap of at least 1
g.yaml:1:43: rows.0: grass has no settings: write it as a name
g.yaml:1:52: rows.0: mint has no settings: write it as a name
g.yaml:2:8: soil: has clay and sand: want one of them`},
		"two parts by set": {"rows: [mint]\nsoil: {sand: 1}", []string{"soil.clay={}"}, `--set soil.clay={}: soil: has clay and sand: want one of them; set soil.sand=null to replace it`},
		"parts of a file and of a set": {"rows: [{lawn: {evry: 1}, beans: 0}, mint]\ntended: {height: 3}", []string{"rows.0.under.deep=3"},
			`--set rows.0.under.deep=3: rows.0: has beans and lawn and under: want one of them; set rows.0.lawn=null and rows.0.beans=null to replace them
g.yaml:2:18: tended.height: want a number above 0 and below 1, have 3`},
		"beside another": {"rows: [{lawn: {}, label: x}]\nsoil: {clay: {}, from: sea}", nil, "g.yaml:1:19: rows.0.label: goes with beans, grass\ng.yaml:2:18: soil.from: goes with sand"},
		"checks": {"rows: [{beans: 100, label: weed}, {beans: {gap: 0, poles: -1}}, {under: {}}]\nbeds: [{nails: 101}]\nwater: {litres: 1001, times: 3}\nlabels: {a: \"\"}\ntended: {height: 1.5}", nil,
			`g.yaml:1:1: floods
g.yaml:1:16: rows.0.beans: want below 100, have 100
g.yaml:1:28: rows.0.label: no name for a plant
g.yaml:1:49: rows.1.beans.gap: want a gap of at least 1
g.yaml:1:59: rows.1.beans.poles: want at least 1, have -1
g.yaml:1:73: rows.2.under.of: needs a plant
g.yaml:2:16: beds.0.nails: want below 100, have 101
g.yaml:3:30: water.times: 3 times for 3 rows
g.yaml:4:13: labels.a: needs a file
g.yaml:5:18: tended.height: want a number above 0 and below 1, have 1.5`},
		"zeros": {"rows: [mint, {lawn: {every: 0}}]\nname: \"\"\nwater: {litres: 0, times: 0}\nbeds: [{nails: 0}]\ntended: {height: 0}", nil,
			`g.yaml:1:29: rows.1.lawn.every: 0 is not allowed here: leave it out for the default
g.yaml:2:7: name: "" is not allowed here: leave it out for the default
g.yaml:3:17: water.litres: want a number above 0, have 0
g.yaml:3:27: water.times: 0 is not allowed here: leave it out for the default
g.yaml:4:16: beds.0.nails: want at least 1, have 0
g.yaml:5:18: tended.height: want a number above 0 and below 1, have 0`},
		"only its own fault": {"rows: 3\nwater: {litres: x, times: 3}\nbeds: [{nials: 3}]", nil,
			`g.yaml:1:7: rows: want a list, as in […, …], have 3
g.yaml:2:17: water.litres: want a number, have "x"
g.yaml:3:9: beds.0: unknown key "nials": did you mean "nails"? (known: width, raised, wood, nails)`},
		"all together":    {"rows: 3\nwater: {litres: 2000}", nil, "g.yaml:1:1: floods\ng.yaml:1:7: rows: want a list, as in […, …], have 3"},
		"conflict by set": {"rows: [mint, mint, mint]\nwater: {times: 3}", []string{"rows.2=sage", "rows=[mint, sage, mint]"}, "--set rows=[mint, sage, mint]: water.times: 3 times for 3 rows"},
		"inside a set":    {"rows: [mint, mint, mint, mint, mint, {lawn: {}}]", []string{"rows.5.lawn.every=2"}, "--set rows.5.lawn.every=2: rows.5: is the sixth"},
		"sets": {"rows: [mint]\ntools: []", []string{"rows", "=3", "rows=", "rows.1=mint", "rows.x=mint", "tools.0=a", "rows.0.x=3", "name=[", "name=a\n---\nb"},
			`--set rows: want key=value, as in a.b.c=4
--set =3: want key=value, as in a.b.c=4
--set rows=: no value
--set rows.1=mint: rows has items 0 to 0, not "1"
--set rows.x=mint: rows has items 0 to 0, not "x"
--set tools.0=a: tools has no items, not "0"
--set rows.0.x=3: rows.0 is "mint", which has no part "x"
--set name=[: "[" is not a YAML value: did not find expected node content
--set name=a
---
b: "a\n---\nb" is not a YAML value: a second document; a config has only one`},
		"unknown by set": {"rows: [mint]", []string{"water.tiems=null", "watre.times=null", "soil.sand.x=null", "water.x=3"},
			`--set water.tiems=null: water: unknown key "tiems": did you mean "times"? (known: litres, times, until)
--set water.x=3: water: unknown key "x" (known: litres, times, until)
--set watre.times=null: unknown key "watre": did you mean "water"? (known: name, seed, size, beds, rows, soil, water, labels, tools, colour, tended)
--set soil.sand.x=null: soil.sand: unknown key "x" (known: grain, sieve, mesh)`},
	} {
		t.Run(name, func(t *testing.T) {
			_, source, err := parseGarden(c.text, c.sets...)
			if err == nil {
				t.Fatal("no error")
			}
			var list *Error
			if !errors.As(err, &list) || list.File != "g.yaml" {
				t.Errorf("%T is no Error of g.yaml", err)
			}
			if source != nil {
				t.Error("a source of a config that is wrong")
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
