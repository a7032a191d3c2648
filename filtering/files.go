package filtering

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"math"
	"strconv"

	"github.com/starling-smc/starling/internal/safetensors"
	"github.com/starling-smc/starling/ssm"
)

// WriteLines writes the lines of a run, one JSON object a scan: the same text as Emit had.
func WriteLines(w io.Writer, steps iter.Seq2[*Step, error]) error {
	out := json.NewEncoder(w)
	for s, err := range steps {
		if err != nil {
			return err
		}
		if err := out.Encode(&s.Line); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes the estimates of a run as CSV, a row for each track and scan: time, id, the mean of each coordinate, then its
// standard deviation. A model that is no tracker has no id, and its coordinates are numbered.
func WriteTable(w io.Writer, m ssm.Model, steps iter.Seq2[*Step, error]) error {
	names, tracker := Names(m)
	head := []string{"time"}
	if tracker {
		head = append(head, "id")
	}
	head = append(head, names...)
	for _, n := range names {
		head = append(head, "sd_"+n)
	}
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	if err := out.Write(head); err != nil {
		return err
	}
	for s, err := range steps {
		if err != nil {
			return err
		}
		for _, t := range s.All() {
			row := []string{string(s.Time)}
			if tracker {
				row = append(row, t.ID)
			}
			for _, v := range t.Mean {
				row = append(row, number(float64(v)))
			}
			for c := range t.Mean {
				row = append(row, number(math.Sqrt(float64(t.Cov[c][c]))))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteParticles writes the particles of every scan as safetensors: particles, [scans, N, Dim], and log_weights, [scans, N], where
// they differ.
func (p *Pass) WriteParticles(w io.Writer) error {
	k, d := p.state.K, p.state.Dim
	tensors := []safetensors.Tensor{}
	if n := p.state.N(); n > 0 && k > 0 {
		tensors = append(tensors, float64s("particles", []int{k, n, d}, p.kept))
		if p.weight != nil {
			tensors = append(tensors, float64s("log_weights", []int{k, n}, p.weight))
		}
	}
	return safetensors.Write(w, tensors)
}

// ReadParticles reads what WriteParticles writes: the numbers of all particles of all scans, and their log-weights, nil where there are
// none.
func ReadParticles(text []byte) (x, logWeights []float64, err error) {
	tensors, _, err := safetensors.Parse(text)
	for _, t := range tensors {
		switch t.Name {
		case "particles":
			x = t.Float64s()
		case "log_weights":
			logWeights = t.Float64s()
		}
	}
	return x, logWeights, err
}

func float64s(name string, shape []int, values []float64) safetensors.Tensor {
	t := safetensors.Tensor{Name: name, DType: "F64", Shape: shape, Data: make([]byte, 0, 8*len(values))}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint64(t.Data, math.Float64bits(v))
	}
	return t
}
