package config

// The toy settings of the tests: a garden, which has every option of a tag.

type garden struct {
	Name   string   `yaml:"name"`
	Seed   uint64   `yaml:"seed"`
	Size   [2]int   `yaml:"size,zero"`
	Beds   []bed    `yaml:"beds,omitempty"`
	Rows   []Plant  `yaml:"rows,omitempty"`
	Soil   soil     `yaml:"soil,omitempty"`
	Water  *water   `yaml:"water,omitempty"`
	Labels []label  `yaml:"labels,omitempty,pairs"`
	Tools  []string `yaml:"tools,omitempty"`
	Colour []string `yaml:"colour,omitempty,one"`
	Tended Tending  `yaml:"tended,omitempty"`
	Mood   any      `yaml:"-"`

	secret int
}

func (g *garden) Defaults() {
	if g.Name == "" {
		g.Name = "plot"
	}
	if g.Water != nil && g.Seed == 7 {
		g.Water.Litres = 70 // an outer struct fills an inner one
	}
	if g.Tended == nil {
		g.Tended = always{}
	}
}

func (g garden) Check(f *Faults) {
	f.If(len(g.Rows) == 0 && len(g.Beds) == 0, "rows", "needs a plant or a bed")
	if g.Water != nil {
		f.If(g.Water.Litres > 1000, "", "floods")
		if g.Water.Times%2 == 1 && len(g.Rows) > 2 {
			f.Conflict([]string{"water.times", "rows"}, "%d times for %d rows", g.Water.Times, len(g.Rows))
		}
	}
	for i := range g.Rows {
		if i == 5 {
			f.Inside("rows.5", "is the sixth")
		}
	}
}

type bed struct {
	Width  float64 `yaml:"width"`
	Raised *bool   `yaml:"raised,omitempty"`
	frame  `yaml:",inline"`
}

type frame struct {
	Wood  string `yaml:"wood,omitempty"`
	Nails int    `yaml:"nails,omitempty"`
}

func (f *frame) Defaults() {
	if f.Nails == 0 {
		f.Nails = 4
	}
}

func (f frame) Check(on *Faults) { on.Within("nails", f.Nails, 1, 100) }

// Plant is a family of parts: structs with and without settings, some of one type.
type Plant interface{ plant() }

type beans struct {
	Poles   int     `yaml:"poles,short"`
	Gap     [2]int  `yaml:"gap"`
	NoMulch bool    `yaml:"mulch,not,omitempty"`
	Height  float64 `yaml:"height,zero"`
	Label   string  `yaml:"label,beside,omitempty"`
}

func (b *beans) Defaults() {
	if b.Gap == [2]int{} {
		b.Gap = [2]int{b.Poles, b.Poles}
	}
	if b.Height == 0 {
		b.Height = 1.5
	}
}

func (b beans) Check(f *Faults) {
	f.Within("poles", b.Poles, 1, 100)
	f.If(b.Gap[0] < 1 || b.Gap[1] < 1, "gap", "want a gap of at least 1")
	f.If(b.Label == "weed", "label", "no name for a plant")
}

type grass struct {
	Label string `yaml:"label,beside,omitempty"`
}

type herb int // mint and sage: parts of one type, told apart by their value

// cut is a plant in two rows, told apart by a field that no config sets.
type cut struct {
	Hedge bool `yaml:"-"`
	Every int  `yaml:"every,omitempty"`
}

func (cut) Examples() []string { return []string{"{every: 3}", "{}"} }

func (c *cut) Defaults() {
	if c.Every == 0 {
		c.Every = 3
	}
}

// under is a plant below a plant.
type under struct {
	Of   Plant `yaml:"of"`
	Deep int   `yaml:"deep,omitempty"`
}

func (u under) Check(f *Faults) { f.If(u.Of == nil, "of", "needs a plant") }

func (beans) plant() {}
func (grass) plant() {}
func (herb) plant()  {}
func (cut) plant()   {}
func (under) plant() {}

var plants = Table[Plant]{
	{"beans", beans{Poles: 2}}, {"grass", grass{}}, {"mint", herb(0)}, {"sage", herb(1)}, {"lawn", cut{}}, {"hedge", cut{Hedge: true}},
	{"under", under{}},
}

// soil holds a family inline.
type soil struct {
	Ground Ground `yaml:",inline"`
	Worms  bool   `yaml:"worms,omitempty"`
}

func (s soil) Check(f *Faults) { f.If(s.Worms && s.Ground == nil, "", "want one of clay, sand") }

// Ground is a family that stands among the keys of soil.
type Ground interface{ ground() }

type sand struct {
	Grain float64  `yaml:"grain,short"`
	From  string   `yaml:"from,beside,omitempty"`
	Sieve []int    `yaml:"sieve,omitempty"`
	Mesh  *float64 `yaml:"mesh,omitempty"`
}

type clay struct{}

func (sand) ground() {}
func (clay) ground() {}

var grounds = Table[Ground]{{"sand", sand{Grain: 0.1}}, {"clay", clay{}}}

type water struct {
	Litres float64 `yaml:"litres"`
	Times  int     `yaml:"times,omitempty" words:"often=-1"`
	Until  float64 `yaml:"until,omitempty" words:"rain=0,forever=-2"`
}

func (w *water) Defaults() {
	if w.Litres == 0 {
		w.Litres = 10
	}
	if w.Times == 0 {
		w.Times = 2
	}
}

func (w *water) Check(f *Faults) { f.Positive("litres", w.Litres) }

type label struct{ Plant, File string }

func (l label) Check(f *Faults) { f.If(l.File == "", "", "needs a file") }

// Tending is a family with a number.
type Tending interface{ tending() }

type (
	always struct{}
	never  struct{}
	below  float64
)

func (b below) Check(f *Faults) { f.Share("", float64(b)) }
func (always) tending()         {}
func (never) tending()          {}
func (below) tending()          {}

var tendings = Table[Tending]{{"always", always{}}, {"never", never{}}, {"height", below(0.5)}}

var families = []Family{plants, grounds, tendings}

func parseGarden(text string, sets ...string) (garden, *Source, error) {
	return Parse[garden]("g.yaml", []byte(text), sets, families...)
}
