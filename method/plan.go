package method

import (
	"github.com/starling-smc/starling/bnn"
	"github.com/starling-smc/starling/internal/config"
	"github.com/starling-smc/starling/internal/finding"
)

// Plan is a method that suits the data, the network and the memory.
type Plan struct {
	Method Method            // with every default
	Way    Method            // the one that is carried out (Way)
	Memory Memory            // of it
	Short  []finding.Finding // what can be foreseen: a budget that is too short
}

// Plan settles a method by the data and the network, and refuses one that they do not suit, or that will need more than limit bytes of
// memory; 0 is no limit. Fields are named from the config's root.
func (j *Job) Plan(m Method, around Around, limit int64, f *config.Faults) Plan {
	n := j.Data.Train.Len()
	p := Plan{Method: settleWith(m, around, Sizes{n, j.Net.Dim(), float64(n) * j.Net.Flops()}, f)}
	p.Way = Way(p.Method, j.About, j.Search)
	if s := p.Way.Sampling(); s != nil {
		p.Short = s.Foresee(j.Net.Dim())
	}
	if c, ok := p.Way.(Choosy); ok {
		c.CheckNet(j.Net, f)
	}
	p.Memory = j.CheckMemory(p.Way, limit, f)
	return p
}

// settleWith settles a Sized method by the sizes. Other methods stay as they are.
func settleWith(m Method, around Around, s Sizes, f *config.Faults) Method {
	if sized, ok := m.(Sized); ok {
		return sized.SettleWith(around, s, f)
	}
	return m
}

// Way returns the method that is carried out for a method and a prior. At s = 0 an anchored posterior is its anchor alone, and there is
// nothing to sample. Where each island has an anchor, evidences are of different models.
func Way(m Method, prior bnn.PriorSettings, search *Search) Method {
	switch several, is := m.(apart); {
	case is && prior.Anchor.Apart():
		return several.apart()
	case !prior.Anchor.Point():
		return m
	case search != nil:
		return MAP{}
	}
	return AsIs{}
}

// apart is a Method that compares the evidences of its islands. apart is the method whose islands have priors of their own.
type apart interface{ apart() Method }
