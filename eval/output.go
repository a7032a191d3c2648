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

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// columns names the numbers of a prediction.
func (p *Predictor) columns() (names []string) {
	return columns(p.Posterior.Net.Classes(), p.Posterior.Net.Targets())
}

func columns(classes, outputs int) (names []string) {
	for c := range classes {
		names = append(names, fmt.Sprint("p_", c))
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

// width is how many numbers a prediction has: the columns, and those of the decision.
func (p *Predictor) width() int {
	n := len(p.columns())
	if p.Decision != nil {
		n += len(decision)
	}
	return n
}

// header names the columns of a CSV.
func header(classes, outputs int, decided bool) []string {
	if classes == 0 {
		return append([]string{"row"}, columns(classes, outputs)...)
	}
	names := slices.Concat([]string{"row", "class"}, columns(classes, outputs), []string{"abstain"})
	if decided {
		names = append(names, decision...)
	}
	return names
}

// decision names the columns of the numbers by which an input is declared out of distribution.
var decision = []string{"energy", "foreign"}

// IsPredictions reports whether a file begins as predictions do that a Predictor wrote: by its header, whatever the number of
// classes or outputs is.
func IsPredictions(beginning []byte) bool {
	if isArray(beginning) {
		return true
	}
	line, _, _ := bytes.Cut(beginning, []byte("\n"))
	n := bytes.Count(line, []byte(",")) + 1
	classes := func(decided bool) []string { return header(max(0, n-len(header(1, 1, decided))+1), 1, decided) }
	for _, names := range [][]string{classes(false), classes(true), header(0, max(1, n/len(columns(0, 1))), false)} {
		if string(line) == strings.Join(names, ",") {
			return true
		}
	}
	return false
}

// arrayHeader is the length of the header of an NPY of predictions. NumPy writes shorter ones, so it tells whose file it is.
const arrayHeader = 512

// arrayBegin returns the header of an NPY of predictions.
func arrayBegin(shape []int) []byte {
	head := data.NPYHeader(shape)
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

// predictions writes the numbers of predictions one block after another; write errors may first show at Flush.
type predictions struct {
	*bufio.Writer
	write func(values []float64) error
}

// writer begins a file of predictions.
func (p *Predictor) writer(w io.Writer, rows int, out string) predictions {
	b := bufio.NewWriter(w)
	if strings.EqualFold(filepath.Ext(out), ".npy") {
		return predictions{b, p.writeNPY(b, rows)}
	}
	return predictions{b, p.writeCSV(b)}
}

func (p *Predictor) writeNPY(b *bufio.Writer, rows int) func([]float64) error {
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
	return func(values []float64) error {
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

func (p *Predictor) writeCSV(b *bufio.Writer) func([]float64) error {
	width, said, n, row := p.width(), len(p.columns()), p.Posterior.Net.Classes(), 0
	lines := csv.NewWriter(b)
	record := header(n, p.Posterior.Net.Targets(), p.Decision != nil)
	lines.Write(record)
	lines.Flush()
	return func(values []float64) error {
		for ; len(values) > 0; values = values[width:] {
			record = append(record[:0], strconv.Itoa(row))
			if n > 0 {
				record = append(record, p.class(values[:n]))
			}
			for _, v := range values[:said] {
				record = append(record, shortest(v))
			}
			if n > 0 {
				record = append(record, "")
			}
			for _, v := range values[said:width] {
				record = append(record, shortest(v))
			}
			if err := lines.Write(record); err != nil {
				return err
			}
			row++
		}
		lines.Flush()
		return lines.Error()
	}
}

// class is the most probable class, the first of equals; empty where probabilities are NaN.
func (p *Predictor) class(probs []float64) string {
	best := uq.Argmax(probs)
	switch {
	case best < 0:
		return ""
	case best < len(p.Schema.Names):
		name := p.Schema.Names[best]
		if p.Safe && data.Formula(name) {
			name = "'" + name
		}
		return name
	}
	return strconv.Itoa(best)
}

// shortest returns the shortest text that package data reads back as v.
func shortest(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
