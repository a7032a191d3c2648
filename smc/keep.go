package smc

// keep keeps the states that are due after an iteration: n of each particle, evenly over the second half of a budget.
//
// Where all moves cost the same, state i = 1…n is due at (1 + i/n)/2 of the budget.
func (st *State) keep(n, budget int) {
	if 2*n*st.Spent >= budget*(n+len(st.KeptLL)/st.J+1) {
		st.hold()
	}
}

// keepByMoves is keep where the cost of a move depends on the states (NUTS). A point of the budget would lie in a long move more
// often than in a short one, and the states after long moves are not like the others. So states are kept by moves: every
// stride-th state of the moves that begin in the second half. When 2n are held, every other one is dropped and the stride
// doubles. At the end of the path n of those held remain, evenly, the last one among them; or all, if there are fewer.
func (st *State) keepByMoves(n int, done bool) {
	st.Late++
	stride := 1
	for (st.Late-1)/stride >= 2*n {
		stride *= 2
	}
	if st.Late%stride == 0 {
		st.hold()
	}
	if held := len(st.KeptLL) / st.J; held == 2*n || done && held > n {
		st.thin(n)
	}
}

// hold keeps the present state of all particles.
func (st *State) hold() {
	st.Kept = append(st.Kept, st.Theta...)
	st.KeptLL = append(st.KeptLL, st.LL...)
}

// thin leaves n of the times at which states were kept: of m, the ones at m/n, 2m/n, … m, rounded up. The states that it drops
// may be those of a copy of st, so it writes to new memory.
func (st *State) thin(n int) {
	theta, ll := st.Kept, st.KeptLL
	m := len(ll) / st.J
	st.Kept, st.KeptLL = nil, nil
	for i := 1; i <= n; i++ {
		at := ((i*m+n-1)/n - 1) * st.J
		st.Kept = append(st.Kept, theta[at*st.D:(at+st.J)*st.D]...)
		st.KeptLL = append(st.KeptLL, ll[at:at+st.J]...)
	}
}
