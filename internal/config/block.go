package config

// block reads a value that may go over several lines: the first of its line, or after the dashes of a list.
func (r *reader) block() (*node, *fault) {
	if r.sign('-') {
		return r.sequence()
	}
	column := r.indent()
	if r.next() == '[' || r.next() == '{' {
		return r.inLine()
	}
	t, f := r.token(inBlock)
	if f != nil {
		return nil, f
	}
	if r.blanks(); r.colon(inBlock) {
		return r.mapping(column, t)
	}
	return r.scalar(t)
}

// mapping reads the entries whose keys stand at a column; the first key was read.
func (r *reader) mapping(column int, t token) (*node, *fault) {
	if f := r.enter(); f != nil {
		return nil, f
	}
	defer r.leave()
	to := r.entries(&node{table: true, place: t.place})
	for {
		k, f := to.key(t)
		if f != nil {
			return nil, f
		}
		r.pos++
		value, f := r.value(column)
		if f != nil {
			return nil, f
		}
		to.put(k, value)
		if more, f := r.goesOn(column); f != nil || !more {
			return to.node, f
		}
		if t, f = r.token(inBlock); f != nil {
			return nil, f
		}
		if r.blanks(); !r.colon(inBlock) {
			return nil, &fault{place: t.place, message: excerpt(t.text) + " among keys: want a key with a colon and a blank after it, as in key: value"}
		}
	}
}

// goesOn goes to the next line, and reports whether it belongs to the list or the mapping at a column.
func (r *reader) goesOn(column int) (bool, *fault) {
	if f := r.nextLine(); f != nil {
		return false, f
	}
	if !r.over() && r.indent() > column {
		return false, r.fault("%s is indented more than the lines above", excerpt(r.rest()))
	}
	return !r.over() && r.indent() == column, nil
}

// value reads what follows the colon of a key that stands at a column.
func (r *reader) value(column int) (*node, *fault) {
	none := &node{place: r.here()}
	if r.blanks(); !r.ended() {
		return r.inLine()
	}
	if f := r.nextLine(); f != nil {
		return nil, f
	}
	switch {
	case r.over():
	case r.indent() > column:
		return r.block()
	case r.indent() == column && r.sign('-'):
		return r.sequence()
	}
	return none, nil
}

// inLine reads a value that begins in the line of its key.
func (r *reader) inLine() (*node, *fault) {
	if r.next() != '[' && r.next() != '{' {
		t, f := r.token(inBlock)
		if f != nil {
			return nil, f
		}
		return r.scalar(t)
	}
	n, f := r.flow()
	if f != nil {
		return nil, f
	}
	return n, r.end()
}

// scalar makes a token a value.
func (r *reader) scalar(t token) (*node, *fault) { return t.node(), r.end() }

// end wants nothing more in the line.
func (r *reader) end() *fault {
	if r.blanks(); r.ended() {
		return nil
	}
	if r.colon(inBlock) {
		return r.fault("a second colon: write a mapping in braces, or in a line of its own")
	}
	return r.fault("%s after a value: want the end of the line", excerpt(r.rest()))
}

// sequence reads the items whose dashes stand at the column of the first, which is next.
func (r *reader) sequence() (*node, *fault) {
	if f := r.enter(); f != nil {
		return nil, f
	}
	defer r.leave()
	column := r.indent()
	list := &node{place: r.here(), list: true}
	for {
		r.pos++
		value := &node{place: r.here()}
		var f *fault
		if r.blanks(); r.ended() {
			f = r.nextLine()
		}
		if f == nil && !r.over() && r.indent() > column {
			value, f = r.block()
		}
		if f != nil {
			return nil, f
		}
		if f := r.item(list, value); f != nil {
			return nil, f
		}
		if more, f := r.goesOn(column); f != nil || !more || !r.sign('-') {
			return list, f
		}
	}
}
