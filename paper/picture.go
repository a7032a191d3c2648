package paper

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/internal/chart"
)

// Picture is a figure of a paper, of our runs.
type Picture struct {
	Name string
	SVG  []byte // a file that stands alone
}

// panel is one of several charts that stand side by side.
type panel struct {
	title string
	chart string // <svg …>
}

// key is an entry of a legend below the panels: the class of a line, and what it is.
type key struct{ class, text string }

// sideBySide draws panels in rows of so many columns, and the legend below them.
func sideBySide(panels []panel, columns int, height float64, legend []key) []byte {
	const side, head, line = chart.Width + 20, 30, 24
	rows := (len(panels) + columns - 1) / columns
	high := int(height) + head
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"><style>%s</style>`, min(columns, len(panels))*side, rows*high+len(legend)*line, pictureStyle)
	for i, p := range panels {
		x, y := i%columns*side, i/columns*high
		fmt.Fprintf(&b, `<text class="head" x="%d" y="%d">%s</text>`, x+side/2, y+20, p.title)
		b.WriteString(strings.Replace(p.chart, "<svg ", fmt.Sprintf(`<svg x="%d" y="%d" width="%d" height="%g" `, x, y+head, chart.Width, height), 1))
	}
	for i, k := range legend {
		y := rows*high + i*line
		fmt.Fprintf(&b, `<path class="line %s" d="M20 %dh28"/><text class="key" x="56" y="%d">%s</text>`, k.class, y+8, y+12, k.text)
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// pictureStyle colours a picture that stands alone.
const pictureStyle = `svg { background: #fff } text { font: 12px sans-serif; fill: #333 } .head { font-size: 18px; text-anchor: middle } .key { font-size: 14px } ` +
	`.cells { stroke: #1b5a9c; fill: none; shape-rendering: crispEdges } .base, .grid { stroke: #ccc; fill: none } .rule { stroke: #888; fill: none } ` +
	`.line { fill: none; stroke-width: 2 } .dots { fill: none; stroke-linecap: round } .truth { stroke: #999; stroke-width: 4 } ` +
	`.s0 { stroke: #1b5a9c } .s1 { stroke: #b4450d } .s2 { stroke: #0b7359 } .s3 { stroke: #863a86 } .s4 { stroke: #806000 } .s5 { stroke: #4d5a68 } ` +
	`.line.s1 { stroke-dasharray: 7 4 } .line.s2 { stroke-dasharray: 2 4 } .line.s3 { stroke-dasharray: 10 4 2 4 } .mark { fill: #1b5a9c; stroke: none }`
