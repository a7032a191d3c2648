package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
)

// Matrix shows counts of pairs, such as a confusion matrix: one square for each pair, with the count in it. It is darker
// the larger its share of the row: the opacity rises with the square root of the share, so that small shares are seen.
type Matrix struct {
	ID, Title, Desc string
	Rows, Columns   string // their titles
	Names           []string
	Heads           []string   // names of the columns; nil: Names
	Counts          [][]int    // Counts[row][column]
	Texts           [][]string // what stands in the squares, likewise; nil: the counts above 0
}

// SVG draws the matrix.
func (m *Matrix) SVG() template.HTML {
	left := 0.0
	for _, n := range m.Names {
		left = max(left, letter*float64(len([]rune(n))))
	}
	left = min(left, Width/4) + 10
	heads := m.Heads
	if heads == nil {
		heads = m.Names
	}
	side := (Width - left - 2) / float64(len(heads))
	height := min(side, 46)
	foot := top + float64(height*float64(len(m.Names)))
	p := newCanvas(m.ID, m.Title, m.Desc, foot+bottom)
	p.text(2, 13, "start", "label", m.Rows)
	for i, row := range m.Counts {
		sum := 0
		for _, n := range row {
			sum += n
		}
		y := top + float64(height*float64(i))
		line := y + float64(height/2) + 4
		p.text(left-6, line, "end", "", shorten(m.Names[i], left-8))
		for j, n := range row {
			x := left + float64(side*float64(j))
			share := 0.0
			if sum > 0 {
				share = float64(n) / float64(sum)
			}
			fmt.Fprintf(&p.b, `<rect class="cell" x="%s" y="%s" width="%s" height="%s" fill-opacity="%s"/>`,
				num(x+1), num(y+1), num(side-2), num(height-2), strconv.FormatFloat(.05+float64(.3*math.Sqrt(share)), 'f', 2, 64))
			if s := m.text(i, j); letter*float64(len([]rune(s))) < side {
				p.text(x+float64(side/2), line, "middle", "count", s)
			}
		}
	}
	for j, head := range heads {
		p.text(left+float64(side*(float64(j)+.5)), foot+17, "middle", "", shorten(head, side))
	}
	p.text(Width-2, foot+34, "end", "label", m.Columns)
	return p.end()
}

// text is what stands in a square.
func (m *Matrix) text(row, column int) string {
	switch {
	case m.Texts != nil:
		return m.Texts[row][column]
	case m.Counts[row][column] > 0:
		return strconv.Itoa(m.Counts[row][column])
	}
	return ""
}
