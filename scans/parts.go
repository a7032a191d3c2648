package scans

import (
	"encoding/binary"

	"github.com/starling-smc/starling/ssm"
)

// parts collects the measurements of a scan that lack some of their numbers, by the numbers that are there.
type parts struct {
	list  []ssm.Part
	index map[string]int // in list, by the columns
	key   []byte
}

// add takes the numbers of a measurement that are there, and their columns.
func (p *parts) add(columns []int, values []float64) {
	p.key = p.key[:0]
	for _, c := range columns {
		p.key = binary.AppendUvarint(p.key, uint64(c))
	}
	i, ok := p.index[string(p.key)]
	if !ok {
		if p.index == nil {
			p.index = map[string]int{}
		}
		i = len(p.list)
		p.index[string(p.key)] = i
		p.list = append(p.list, ssm.Part{Columns: append([]int(nil), columns...)})
	}
	p.list[i].Values = append(p.list[i].Values, values...)
}

// take returns all of them, and forgets them.
func (p *parts) take() (list []ssm.Part) {
	list, p.list = p.list, nil
	clear(p.index)
	return list
}

// Partial is the number of measurements that lack some of their numbers.
func (r *Record) Partial() int { return r.Measured() - r.Len() }

// LeaveOutParts counts the measurements that lack some of their numbers as missing, for a model that takes whole ones alone.
func (r *Record) LeaveOutParts() {
	r.Unused += r.Partial()
	r.Missing += r.Partial()
	r.Parts = nil
}
