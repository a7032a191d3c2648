package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	pixels "image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

const (
	pictures = 8  // of a shelf
	listed   = 5  // rows of a table
	columns  = 12 // features of a row
	side     = 64 // pixels of a picture at most
)

// examples shows the most certain and the most uncertain of each group.
func (v *view) examples() section {
	s := section{ID: "examples", Title: "The most certain and the most uncertain examples",
		Text: []string{fmt.Sprintf("Of each group, by %s. Below each example are the answer and its probability, and the true class if the answer is wrong. "+
			"Examples and rows count from 0 within their data.", v.scoreName())}}
	for _, g := range v.groups {
		if len(g.rows) == 0 {
			continue
		}
		title := map[string]string{"right": "Right answers", "wrong": "Wrong answers"}[g.name]
		if g.ood {
			title = "Out of distribution: " + g.name
		}
		title += " · " + count(len(g.rows))
		b := gallery{Name: title}
		order := byUncertainty(v.scoresOf(g))
		for i, r := range order {
			order[i] = g.rows[r]
		}
		few := pictures
		if !picture(g.set.Shape) {
			few = listed
		}
		few = min(few, (len(order)+1)/2)
		least, most := order[:few], slices.Clone(order[len(order)-min(few, len(order)-few):])
		slices.Reverse(most)
		for _, shown := range []struct {
			name string
			rows []int
		}{{"most certain", least}, {"most uncertain", most}} {
			if len(shown.rows) == 0 {
				continue
			}
			if !picture(g.set.Shape) {
				b.Tables = append(b.Tables, v.rows(g, shown.name, shown.rows))
				continue
			}
			h := shelf{Name: shown.name}
			for _, i := range shown.rows {
				h.Images = append(h.Images, v.image(g, i))
			}
			b.Shelf = append(b.Shelf, h)
		}
		s.Galleries = append(s.Galleries, b)
	}
	return s
}

// truth returns the true class of a group's example; an out-of-distribution example has none.
func (v *view) truth(g group, i int) (string, bool) {
	if g.ood {
		return "", false
	}
	return v.className(int(g.set.Labels[i])), true
}

func (v *view) image(g group, i int) image {
	answer := v.className(uq.Argmax(probs(g.said, i)))
	p := confidence(g.said, i)
	src, width, height := dataURI(v.shade(g.set), i)
	m := image{Source: src, Width: width, Height: height, Lines: []string{answer, percentRound(p)}}
	m.Alt = fmt.Sprintf("%s, example %d: answer %s with probability %s, %s %s nats", g.name, i, answer, percentRound(p), v.scoreName(), fixed(v.score(g.said)[i], 3))
	if truth, ok := v.truth(g, i); ok && truth != answer {
		m.Lines = append(m.Lines, "is "+truth)
		m.Alt += ", true class " + truth
	}
	return m
}

// picture reports whether examples are gray or RGB images.
func picture(shape []int) bool {
	return len(shape) == 3 && (shape[0] == 1 || shape[0] == 3) && shape[1] > 1 && shape[2] > 1
}

// shades turns a set's values into brightness from 0 to 1.
type shades struct {
	set      *data.Set
	standard *data.Standard // the standardisation to be undone; nil: none
	low, up  float64        // values of black and white
}

// shade chooses the values of black and white: 0 and 1 if the training examples lie between them, else their lowest and
// highest value.
func (v *view) shade(set *data.Set) shades {
	s := shades{set: set, up: 1}
	if v.run.Schema != nil {
		s.standard = v.run.Schema.Inputs
	}
	if set.U8 != nil {
		s.standard = nil
		return s
	}
	train := shades{set: v.a.Problem.Train, standard: s.standard}
	if train.set.U8 != nil || train.set.Features() != set.Features() {
		return s
	}
	x := make([]float64, set.Features())
	low, up := math.Inf(1), math.Inf(-1)
	for i := range min(train.set.Len(), 200) {
		train.row(i, x)
		low, up = min(low, slices.Min(x)), max(up, slices.Max(x))
	}
	if low >= -1e-6 && up <= 1+1e-6 || !(low < up) {
		return s
	}
	s.low, s.up = low, up
	return s
}

func (s shades) row(i int, x []float64) {
	s.set.Row(i, x)
	if s.standard != nil {
		s.standard.Restore(x)
	}
}

// dataURI returns example i as a PNG, with at most side pixels a side.
func dataURI(s shades, i int) (src template.URL, width, height int) {
	channels, h, w := s.set.Shape[0], s.set.Shape[1], s.set.Shape[2]
	x := make([]float64, s.set.Features())
	s.row(i, x)
	by := max(1, (max(h, w)+side-1)/side) // every pixel is the mean of by × by values
	height, width = (h+by-1)/by, (w+by-1)/by
	at := func(c, row, col int) uint8 {
		sum, n := 0.0, 0.0
		for r := row * by; r < min((row+1)*by, h); r++ {
			for k := col * by; k < min((col+1)*by, w); k++ {
				sum += x[(c*h+r)*w+k]
				n++
			}
		}
		b := (sum/n - s.low) / (s.up - s.low)
		return uint8(math.Round(255 * min(max(b, 0), 1)))
	}
	var m pixels.Image
	if channels == 1 {
		gray := pixels.NewGray(pixels.Rect(0, 0, width, height))
		for r := range height {
			for k := range width {
				gray.SetGray(k, r, color.Gray{Y: at(0, r, k)})
			}
		}
		m = gray
	} else {
		rgb := pixels.NewRGBA(pixels.Rect(0, 0, width, height))
		for r := range height {
			for k := range width {
				rgb.SetRGBA(k, r, color.RGBA{at(0, r, k), at(1, r, k), at(2, r, k), 255})
			}
		}
		m = rgb
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, m); err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), width, height
}

// rows is a table of a group's rows with their features.
func (v *view) rows(g group, caption string, rows []int) table {
	t := table{Caption: caption, Head: []string{"row", "answer", "probability"}, Words: []int{1}}
	if !g.ood {
		t.Head, t.Words = append(t.Head, "true"), append(t.Words, 3)
	}
	t.Head = append(t.Head, v.scoreName())
	names, values := v.features(g.set, rows)
	t.Head = append(t.Head, names...)
	for r, i := range rows {
		cells := []string{v.className(uq.Argmax(probs(g.said, i))), percent(confidence(g.said, i))}
		if truth, ok := v.truth(g, i); ok {
			cells = append(cells, truth)
		}
		cells = append(cells, fixed(v.score(g.said)[i], 3))
		t.add(fmt.Sprint(i), append(cells, values[r]...)...)
	}
	return t
}

// features returns the inputs of rows as their file has them, with their names: numbers in its units, words, and nothing where a
// value is missing; the first ones if there are many.
func (v *view) features(set *data.Set, rows []int) (names []string, values [][]string) {
	schema, width := v.run.Schema, set.Features()
	if len(set.Shape) != 1 {
		return nil, make([][]string, len(rows))
	}
	skip := 0
	if schema != nil && schema.Intercept {
		skip = 1
	}
	table := schema != nil && len(schema.InputNames()) == width-skip
	if table {
		names = schema.Features()
	} else {
		skip = 0
		for i := range width {
			names = append(names, fmt.Sprintf("input %d", i))
		}
	}
	few := min(len(names), columns)
	x := make([]float64, width)
	for _, i := range rows {
		set.Row(i, x)
		row, size := x[skip:], make([]float64, width-skip)
		if schema != nil && schema.Inputs != nil && len(schema.Inputs.SD) == len(row) {
			schema.Inputs.Restore(row)
			for j, m := range schema.Inputs.Mean {
				size[j] = math.Abs(m) + schema.Inputs.SD[j]
			}
		}
		number := func(input int) string { return shortest(row[input], size[input]) }
		var cells []string
		if table {
			cells = schema.Cells(row, number)[:few]
		} else {
			for j := range few {
				cells = append(cells, number(j))
			}
		}
		values = append(values, cells)
	}
	return names[:few], values
}
