package filtering

import (
	"slices"

	"github.com/starling-smc/starling/filter"
)

// Metrics sum up a run. Numbers that a run cannot have, such as errors without truth, are left out.
type Metrics struct {
	Scans     int   `json:"scans"`
	LeftOut   int   `json:"left_out"`          // scans that could not be used, of the whole run
	Earlier   int   `json:"earlier,omitempty"` // scans before these, whose lines are no longer kept
	Returns   int   `json:"returns"`           // measurements
	Missing   int   `json:"missing"`
	Partial   int   `json:"partial,omitempty"` // measurements that lack some of their numbers
	Dropped   int   `json:"dropped"`           // measurements that the model leaves out
	Passes    int   `json:"passes,omitempty"`
	PassTerms int64 `json:"pass_terms,omitempty"`
	Residuals int64 `json:"residuals,omitempty"`
	Evaluated int64 `json:"evaluated"`
	Skipped   int64 `json:"skipped"`       // terms
	Few       int   `json:"few_draws"`     // scans whose samples are worth fewer than 50 draws
	Lone      int   `json:"lone_ancestor"` // scans that come from one particle of the scan before
	Unknown   int   `json:"mcse_unknown"`  // scans in which the Monte Carlo error of a mean is unknown
	Apart     int   `json:"filters_apart"` // scans whose R-hat is above 3, although the samples are worth 50 draws

	Still *Still `json:"still,omitempty"` // coordinates without spread

	ESS       *Spread `json:"ess,omitempty"`  // the smallest of a coordinate, over scans
	RHat      *Spread `json:"rhat,omitempty"` // the largest of a coordinate, over scans
	Ancestors *Spread `json:"ancestors,omitempty"`
	Joint     *Spread `json:"accept_joint,omitempty"`
	Index     *Spread `json:"accept_index,omitempty"`
	Refine    *Spread `json:"accept_refine,omitempty"`

	Seen  *Spreads `json:"seen,omitempty"`   // share of the measurements that a decision by decide: subsample looks at
	BySum *Spreads `json:"by_sum,omitempty"` // share of these decisions that the sum over all of them made

	Doubts
	Nodes       *NodesSum `json:"nodes,omitempty"`        // of ep
	LogEvidence *Number   `json:"log_evidence,omitempty"` // log p(z_1:T), in nats
	*Errors               // against the truth
	Held        *Held     `json:"held,omitempty"`
	Against     *Rival    `json:"against,omitempty"`

	linear  bool   // the model takes what is there of partial measurements
	simpler string // the method without samples that does where nearly all guided draws are accepted; empty: none, or there are no guided draws
	timings timings
}

// Still names coordinates that had one value in all samples of some scans, because nothing moves them. No ess counts them.
type Still struct {
	Coordinates []string `json:"coordinates"` // in the order in which they were seen
	Scans       int      `json:"scans"`
}

// add counts a scan with such coordinates.
func (s *Still) add(names []string) *Still {
	if len(names) == 0 {
		return s
	}
	if s == nil {
		s = &Still{}
	}
	s.Scans++
	for _, name := range names {
		if !slices.Contains(s.Coordinates, name) {
			s.Coordinates = append(s.Coordinates, name)
		}
	}
	return s
}

// Spread describes numbers of several scans.
type Spread struct {
	Min    Number `json:"min"`
	Median Number `json:"median"`
	Mean   Number `json:"mean"`
	Max    Number `json:"max"`
}

// Spreads describe shares of each kind of decision.
type Spreads struct {
	Joint  *Spread `json:"joint,omitempty"`
	Index  *Spread `json:"index,omitempty"`
	Refine *Spread `json:"refine,omitempty"`
}

// least is the smallest mean of a kind; 0 for none.
func (s *Spreads) least() (share float64) {
	if s == nil {
		return 0
	}
	share = 1
	for _, k := range []*Spread{s.Joint, s.Index, s.Refine} {
		if k != nil {
			share = min(share, float64(k.Mean))
		}
	}
	return share
}

// Errors compare estimates with the truth. Targets of a tracker are judged by their positions, other states by all coordinates.
type Errors struct {
	RMSE     Number  `json:"rmse"`           // √ of the mean squared error of a coordinate
	SD       Number  `json:"sd"`             // √ of the mean variance that the filter claims for it
	NEES     *Number `json:"nees,omitempty"` // mean of (m − x)ᵀ P⁻¹ (m − x), over states whose truth is known as a whole; NEESDim is right
	NEESDim  int     `json:"nees_dim"`       // numbers in such a state
	Coverage Number  `json:"coverage"`       // share of the coordinates whose truth is within 1.96 sd; .95 is right
	Judged   int     `json:"judged"`         // states that were compared
}

// Held scores measurements that the filter did not see.
type Held struct {
	N        int    `json:"n"`
	LogScore Number `json:"log_score"`          // mean log p(z), in nats
	Running  Number `json:"log_score_baseline"` // the same by the normal distribution of all earlier measurements
}

// Rival sums up another method on the same scans.
type Rival struct {
	Method      string  `json:"method"`
	RMSE        *Number `json:"rmse,omitempty"` // against the truth
	Distance    Number  `json:"distance"`       // √ of the mean squared difference of the two means
	KS          Number  `json:"ks"`             // mean two-sided distance of the laws, over scans and coordinates
	LogEvidence *Number `json:"log_evidence,omitempty"`
}

// nearlyNormal is the acceptance of guided draws from which on the law of a scan is nearly normal: the total variation between it and the
// proposal's is of the order of what is refused.
const nearlyNormal = 0.95

// fewDraws is the number of independent draws below which the samples of a scan say little about the spread of the state.
const fewDraws = 50

// nearlyAll is the share of the decisions above which the sum over all measurements makes nearly all.
const nearlyAll = 0.9

// apart is the R-hat above which the chains of several filters are in different places. Filters that mix well have errors of their
// own, which make R-hat larger than that of chains with one target: of a bimodal model up to 2.8 was seen, of others seldom more than
// 1.1. Where a chain moves so slowly that its states are worth few draws, R-hat is large as well, and the number of draws says why.
const apart = filter.Apart
