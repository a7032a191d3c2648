package chart

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Cells shades the squares of a grid by how much was counted in each: a picture of many thousand dots in a few hundred bytes a
// row. It is meant to lie behind lines.
type Cells struct {
	X, Y, Size float64 // the grid's lower left corner, and the side of a cell
	Columns    int
	Counts     []int // row by row, the lowest row first
}

// shades is how many shades there are. Their opacities leave lines legible that are drawn over them.
const shades = 6

func opacity(shade int) string {
	return strconv.FormatFloat(.06+float64(.06*float64(shade)), 'f', 2, 64)
}

// Shade is one shade of a picture of counts.
type Shade struct {
	From, To int // the counts that it stands for, both included
	Sample   template.HTML
}

// Shades lists the shades from pale to dark, for a legend. Each spans the same ratio of counts, from the smallest count above 0 to the
// largest, so that a crowded cell does not make all others pale.
func (c Cells) Shades() (all []Shade) {
	least, most := 0, 0
	for _, n := range c.Counts {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
		most = max(most, n)
	}
	if most == 0 {
		return nil
	}
	from := least
	for i := range shades {
		to := int(math.Floor(float64(least) * math.Pow(float64(most+1)/float64(least), float64(i+1)/shades)))
		if i+1 == shades {
			to = most + 1
		}
		if to > from {
			sample := swatch(`<path class="cells" stroke-width="12" stroke-opacity="` + opacity(len(all)) + `" d="M8 6H20"/>`)
			all = append(all, Shade{from, to - 1, sample})
			from = to
		}
	}
	return all
}

func (c Cells) extend(x, y *extent) {
	if c.Columns > 0 {
		x.pair(y, c.X, c.Y)
		x.pair(y, c.X+float64(c.Size*float64(c.Columns)), c.Y+float64(c.Size*float64(len(c.Counts)/c.Columns)))
	}
}

// draw draws a path for each shade, in units of a cell: neighbours of one shade are one stroke.
func (c Cells) draw(p *canvas, x, y scale) {
	left, width, low, high := x.at(c.X), x.at(c.X+c.Size)-x.at(c.X), y.at(c.Y), y.at(c.Y)-y.at(c.Y+c.Size)
	if c.Columns == 0 || !finite(left) || !finite(width) || !finite(low) || !finite(high) {
		return
	}
	exact := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) } // many cells add up
	fmt.Fprintf(&p.b, `<g transform="matrix(%s 0 0 %s %s %s)">`, exact(width), exact(-high), exact(left), exact(low-float64(high/2)))
	for i, s := range c.Shades() {
		var d strings.Builder
		for row := range len(c.Counts) / c.Columns {
			counts, pen := c.Counts[row*c.Columns:(row+1)*c.Columns], -1 // where the pen is in the row; −1: in another one
			for from := 0; from < c.Columns; {
				to := from
				for to < c.Columns && s.From <= counts[to] && counts[to] <= s.To {
					to++
				}
				if to == from {
					from++
					continue
				}
				if pen < 0 {
					fmt.Fprintf(&d, "M%d %d", from, row)
				} else {
					fmt.Fprintf(&d, "m%d 0", from-pen)
				}
				fmt.Fprintf(&d, "h%d", to-from)
				from, pen = to, to
			}
		}
		if d.Len() > 0 {
			fmt.Fprintf(&p.b, `<path class="cells" stroke-width="1" stroke-opacity="%s" d="%s"/>`, opacity(i), d.String())
		}
	}
	p.b.WriteString("</g>")
}
