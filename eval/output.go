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
	"github.com/starling-smc/starling/uq"
)

// columns names the numbers of a prediction.
func (p *Predictor) columns() (names []string) {
	return columns(p.classes(), p.Posterior.Net.Targets())
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

// width is how many numbers a prediction has: the columns, and those of the decision.
func (p *Predictor) width() int {
	n := len(p.columns())
	if p.Decision != nil {
		n += len(decision)
	}
	return n
}

// header names the columns of a CSV. keys are none, or the name of the key column.
func header(classes []string, outputs int, decided bool, keys ...string) []string {
	return append(headerBefore(classes, outputs, decided, keys...), missing)
}

// headerBefore names the columns of a CSV without the one that counts missing inputs, which older versions did not write.
func headerBefore(classes []string, outputs int, decided bool, keys ...string) []string {
	names := append([]string{"row"}, keys...)
	if len(classes) == 0 {
		return append(names, columns(nil, outputs)...)
	}
	names = slices.Concat(names, []string{"class"}, columns(classes, outputs), []string{"abstain"})
	if decided {
		names = append(names, decision...)
	}
	return names
}

// missing names the column with the number of inputs of a row that were missing and filled; empty for none.
const missing = "missing"

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
		outputs := max(1, len(rest)/len(columns(nil, 1)))
		for _, want := range [][]string{headerBefore(classes, 1, false, keys...), headerBefore(classes, 1, true, keys...), headerBefore(nil, outputs, false, keys...)} {
			if slices.Equal(names, want) || slices.Equal(names, append(want, missing)) {
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

// predictions writes the numbers of predictions one block after another, and the keys of their rows, if there are any; write errors
// may first show at Flush.
type predictions struct {
	*bufio.Writer
	write func(values []float64, keys []string, filled []int) error
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

func (p *Predictor) writeNPY(b *bufio.Writer, rows int) func([]float64, []string, []int) error {
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
	return func(values []float64, _ []string, _ []int) error {
		for ; len(values) > 0; values = values[width:] {
			for _, v := range values[:kept] {
				if _, err := b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), math.Float64bits(v))); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (p *Predictor) writeCSV(b *bufio.Writer) func([]float64, []string, []int) error {
	width, said, n, row := p.width(), len(p.columns()), p.Posterior.Net.Classes(), 0
	line := appendLine(nil, p.header())
	_, err := b.Write(line)
	return func(values []float64, keys []string, filled []int) error {
		for i := 0; len(values) > 0 && err == nil; i, values = i+1, values[width:] {
			line = strconv.AppendInt(line[:0], int64(row), 10)
			if p.Key != "" {
				line, keys = appendText(append(line, ','), p.safe(keys[0])), keys[1:]
			}
			if n > 0 {
				line = appendText(append(line, ','), p.class(values[:n]))
			}
			for _, v := range values[:said] {
				line = appendNumber(append(line, ','), v)
			}
			if n > 0 {
				line = append(line, ',')
			}
			for _, v := range values[said:width] {
				line = appendNumber(append(line, ','), v)
			}
			if line = append(line, ','); filled != nil && filled[i] > 0 {
				line = strconv.AppendInt(line, int64(filled[i]), 10)
			}
			_, err = b.Write(append(line, '\n'))
			row++
		}
		return err
	}
}

// header names the columns of a CSV of predictions.
func (p *Predictor) header() []string {
	classes, outputs, decided := p.classes(), p.Posterior.Net.Targets(), p.Decision != nil
	if p.Key == "" {
		return header(classes, outputs, decided)
	}
	return header(classes, outputs, decided, p.safe(p.Key))
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

// class is the most probable class, the first of equals; empty where probabilities are NaN.
func (p *Predictor) class(probs []float64) string {
	best := uq.Argmax(probs)
	switch {
	case best < 0:
		return ""
	case best < len(p.Schema.Names):
		return p.safe(p.Schema.Names[best])
	}
	return strconv.Itoa(best)
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
