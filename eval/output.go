package eval

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/data"
	"github.com/starling-smc/starling/uq"
)

// columns names the numbers of a prediction: the columns of a CSV's header.
func (p *Predictor) columns() (names []string) {
	net := p.Posterior.Net
	for c := range net.Classes() {
		names = append(names, fmt.Sprint("p_", c))
	}
	if names != nil {
		return append(names, "entropy_total", "entropy_aleatoric", "entropy_epistemic")
	}
	for k := range net.Outputs() {
		suffix := ""
		if net.Outputs() > 1 {
			suffix = fmt.Sprint("_", k)
		}
		for _, name := range []string{"mean", "sd_aleatoric", "sd_epistemic", "q05", "q50", "q95"} {
			names = append(names, name+suffix)
		}
	}
	return names
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
	width := len(p.columns())
	shape, kept := []int{rows, width}, width
	if n := net.Classes(); n > 0 {
		kept = n
		shape[1] = kept
	} else if k := net.Outputs(); k > 1 {
		shape = []int{rows, k, width / k}
	}
	b.Write(data.NPYHeader(shape))
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
	names, n, row := p.columns(), p.Posterior.Net.Classes(), 0
	lines := csv.NewWriter(b)
	record := append([]string{"row"}, names...)
	if n > 0 {
		record = append(append([]string{"row", "class"}, names...), "abstain")
	}
	lines.Write(record)
	lines.Flush()
	return func(values []float64) error {
		for ; len(values) > 0; values = values[len(names):] {
			record = append(record[:0], strconv.Itoa(row))
			if n > 0 {
				record = append(record, p.class(values[:n]))
			}
			for _, v := range values[:len(names)] {
				record = append(record, shortest(v))
			}
			if n > 0 {
				record = append(record, "")
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
		return p.Schema.Names[best]
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
