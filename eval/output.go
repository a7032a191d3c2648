package eval

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/internal/arrays"
	"github.com/starling-smc/starling/internal/cells"
)

// columns names the numbers of a prediction.
func (p *Predictor) columns() (names []string) {
	names = columns(p.classes(), p.Posterior.Net.Targets())
	if p.Posterior.Net.Classes() > 0 {
		return names
	}
	return p.asked(names)
}

// classes names the classes: by the schema's names or, without them, by numbers. It is nil for a regression.
func (p *Predictor) classes() []string {
	names := make([]string, p.Posterior.Net.Classes())
	for c := range names {
		if names[c] = strconv.Itoa(c); c < len(p.Schema.Names) {
			names[c] = p.Schema.Names[c]
		}
	}
	return names
}

// Classes names the classes of the posterior, by their numbers where they have no names; none for a regression.
func (p *Predictor) Classes() []string { return p.classes() }

func columns(classes []string, outputs int) (names []string) {
	for _, c := range classes {
		names = append(names, probability+c)
	}
	if names != nil {
		return append(names, "entropy_total", "entropy_aleatoric", "entropy_epistemic")
	}
	for k := range outputs {
		suffix := ""
		if outputs > 1 {
			suffix = fmt.Sprint("_", k)
		}
		for _, name := range []string{"mean", "sd_aleatoric", "sd_epistemic", "q05", "q50", "q95"} {
			names = append(names, name+suffix)
		}
	}
	return names
}

// probability begins the name of a class's column.
const probability = "p_"

// width is how many numbers a prediction has: the columns, those of the decision, and the draws.
func (p *Predictor) width() int {
	n := len(p.columns()) + len(p.drawn())
	if p.foreign() != nil {
		n += len(decision)
	}
	return n
}

// header names the columns of a CSV. keys are none, or the name of the key column.
func header(classes []string, outputs int, decided bool, keys ...string) []string {
	names := append([]string{"row"}, keys...)
	if len(classes) == 0 {
		return slices.Concat(names, columns(nil, outputs), counted)
	}
	names = slices.Concat(names, []string{"class"}, columns(classes, outputs), []string{"abstain"})
	if decided {
		names = append(names, decision...)
	}
	return append(names, counted...)
}

// counted names the columns of counts of a row's inputs, which stand before the draws: those that were missing and filled, and those that
// lie outside the training rows. Older versions did not write them.
var counted = []string{"missing", "outside"}

// decision names the columns of the numbers by which an input is declared out of distribution.
var decision = []string{"energy", "foreign"}

// IsPredictions reports whether a file begins as predictions do that a Predictor wrote: by its header, whatever the classes, the
// number of outputs and the key column are.
func IsPredictions(beginning []byte) bool {
	if isArray(beginning) {
		return true
	}
	names, err := csv.NewReader(bytes.NewReader(beginning)).Read()
	if err != nil || len(names) < 2 || names[0] != "row" {
		return false
	}
	if line := appendLine(nil, names); !bytes.HasPrefix(beginning, line) && len(beginning) >= len(line) {
		return false // a spreadsheet writes other quotes and line ends
	}
	if names = usual(names); len(names) < 2 {
		return false
	}
	for _, keys := range [][]string{nil, names[1:2]} {
		rest := names[1+len(keys):]
		var classes []string
		for _, name := range rest[min(1, len(rest)):] {
			class, is := strings.CutPrefix(name, probability)
			if !is {
				break
			}
			classes = append(classes, class)
		}
		outputs := max(1, len(rest)/len(columns(nil, 1))) // the other names are fewer than those of an output
		for _, want := range [][]string{header(classes, 1, false, keys...), header(classes, 1, true, keys...), header(nil, outputs, false, keys...)} {
			older, learnt := want[:len(want)-len(counted)], append(want, told(classes)...)
			if slices.Equal(names, want) || slices.Equal(names, older) || slices.Equal(names, learnt) {
				return true
			}
		}
	}
	return false
}

// arrayHeader is the length of the header of an NPY of predictions. NumPy writes shorter ones, so it tells whose file it is.
const arrayHeader = 512

// arrayBegin returns the header of an NPY of predictions.
func arrayBegin(shape []int) []byte {
	head := arrays.NPYHeader(shape)
	more := arrayHeader - len(head)
	head = slices.Insert(head, len(head)-1, bytes.Repeat([]byte(" "), more)...)
	const size = 8 // where the number of the bytes that follow stands
	binary.LittleEndian.PutUint16(head[size:], uint16(arrayHeader-size-2))
	return head
}

// isArray reports whether a file begins with what arrayBegin returns for some shape.
func isArray(beginning []byte) bool {
	if len(beginning) < arrayHeader {
		return false
	}
	text, _, _ := bytes.Cut(beginning[:arrayHeader], []byte(")"))
	_, shape, _ := bytes.Cut(text, []byte("("))
	var sizes []int
	for _, part := range strings.Split(string(shape), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || len(sizes) == 3 {
			return false
		}
		sizes = append(sizes, n)
	}
	return bytes.Equal(beginning[:arrayHeader], arrayBegin(sizes))
}

// predictions writes answers one block after another; write errors may first show at Flush.
type predictions struct {
	*bufio.Writer
	write func(a *answers) error
}

// writer begins a file of predictions.
func (p *Predictor) writer(w io.Writer, rows int, out string) predictions {
	b := bufio.NewWriterSize(w, 64<<10)
	if isNPY(out) {
		return predictions{b, p.writeNPY(b, rows)}
	}
	return predictions{b, p.writeCSV(b)}
}

func isNPY(out string) bool { return strings.EqualFold(filepath.Ext(out), ".npy") }

func (p *Predictor) writeNPY(b *bufio.Writer, rows int) func(*answers) error {
	net := p.Posterior.Net
	width := p.width()
	shape, kept := []int{rows, width}, width
	if n := net.Classes(); n > 0 {
		kept = n
		shape[1] = kept
	} else if k := net.Targets(); k > 1 {
		shape = []int{rows, k, width / k}
	}
	b.Write(arrayBegin(shape))
	return func(a *answers) error {
		for values := a.values; len(values) > 0; values = values[width:] {
			for _, v := range values[:kept] {
				if _, err := b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), math.Float64bits(v))); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (p *Predictor) writeCSV(b *bufio.Writer) func(*answers) error {
	width, said, drawn, n, row := p.width(), len(p.columns()), len(p.drawn()), p.Posterior.Net.Classes(), 0
	line := appendLine(nil, p.header())
	_, err := b.Write(line)
	return func(a *answers) error {
		for i, values := 0, a.values; len(values) > 0 && err == nil; i, values = i+1, values[width:] {
			line = strconv.AppendInt(line[:0], int64(row), 10)
			if p.Key != "" {
				line = appendText(append(line, ','), p.safe(a.keys[i]))
			}
			if n > 0 {
				line = appendText(append(line, ','), p.name(a.class[i]))
			}
			for _, v := range values[:said] {
				line = appendNumber(append(line, ','), v)
			}
			if n > 0 {
				line = a.appendAbstain(line, i)
			}
			for _, v := range values[said : width-drawn] {
				line = appendNumber(append(line, ','), v)
			}
			line = appendCount(appendCount(line, a.missing, i), a.outside, i)
			if p.learnt() != nil {
				line = a.appendTold(line, i)
			}
			for _, v := range values[width-drawn : width] {
				if line = append(line, ','); n > 0 {
					line = appendText(line, p.name(int(v)))
				} else {
					line = appendNumber(line, v)
				}
			}
			_, err = b.Write(append(line, '\n'))
			row++
		}
		return err
	}
}

// header names the columns of a CSV of predictions.
func (p *Predictor) header() []string {
	classes, outputs, decided := p.classes(), p.Posterior.Net.Targets(), p.foreign() != nil
	names := header(classes, outputs, decided)
	if len(classes) == 0 {
		names = p.asked(names)
	}
	if p.Key != "" {
		names = slices.Insert(names, 1, p.safe(p.Key))
	}
	if p.learnt() != nil {
		names = append(names, told(classes)...)
	}
	return append(names, p.drawn()...)
}

// appendLine appends a line of texts.
func appendLine(line []byte, texts []string) []byte {
	for i, text := range texts {
		if i > 0 {
			line = append(line, ',')
		}
		line = appendText(line, text)
	}
	return append(line, '\n')
}

// appendText appends a cell, in quotes if it would otherwise be read as another text.
func appendText(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") && strings.TrimSpace(text) == text {
		return append(line, text...)
	}
	line = append(line, '"')
	for i := range len(text) {
		if text[i] == '"' {
			line = append(line, '"')
		}
		line = append(line, text[i])
	}
	return append(line, '"')
}

// name is the name of a class, or its number where it has none; empty for −1.
func (p *Predictor) name(class int) string {
	switch {
	case class < 0:
		return ""
	case class < len(p.Schema.Names):
		return p.safe(p.Schema.Names[class])
	}
	return strconv.Itoa(class)
}

// safe is a text as it is written: behind an apostrophe, if it could be a formula and Safe asks for it.
func (p *Predictor) safe(text string) string {
	if p.Safe && cells.Formula(text) {
		return "'" + text
	}
	return text
}

// appendNumber appends the shortest text that package data reads back as v.
func appendNumber(line []byte, v float64) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(line, "inf"...)
	case math.IsInf(v, -1):
		return append(line, "-inf"...)
	}
	return strconv.AppendFloat(line, v, 'g', -1, 64)
}
