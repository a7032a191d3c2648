package nn

// Role says who moves a tensor of a network (guided-open-horizon-smc, section 2). The parameters of a network are two vectors: θ,
// of which every particle has its own, and φ, which all particles share. Statistics of normalisations are constants behind φ
// (Net.With), and no parameters: they do not make a network partly random.
type Role int

const (
	RoleRandom  Role = iota // in θ: each particle has its own values
	RoleLearned             // in φ, where it is a part of ψ: shared by all particles, and learned while they move
	RoleFrozen              // in φ, after ψ: shared by all particles, and moved by nobody
	RoleFixed               // behind φ: known with the trained network, the same for all particles, and neither drawn nor moved
)

// String is the role's name in files.
func (r Role) String() string { return [...]string{"random", "learned", "frozen", "fixed"}[r] }

// param is a tensor as an op sees it.
type param struct {
	role Role
	at   int // offset in θ, or in φ and what is behind it
	grad int // offset in the sums of the gradient of θ or ψ
}

// gradRows is the place of a tensor's gradient: rows of a given pitch in the float32 sums, dense in θ or ψ.
type gradRows struct{ at, grad, rows, cols, pitch int }

// layout is the float32 sums of the gradient of θ, for one particle, or of ψ.
type layout struct {
	size int
	rows []gradRows
}
