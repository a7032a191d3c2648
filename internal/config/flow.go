package config

import "strings"

// flow reads a list in brackets or a mapping in braces, which may go over several lines.
func (r *reader) flow() (*node, *fault) {
	if f := r.enter(); f != nil {
		return nil, f
	}
	defer r.leave()
	n := &node{place: r.here(), list: r.next() == '[', table: r.next() == '{'}
	closing := map[byte]byte{'[': ']', '{': '}'}[r.next()]
	to := r.entries(n)
	for r.pos++; ; {
		r.skip()
		if r.next() == closing {
			break
		}
		if r.next() == 0 {
			return nil, &fault{place: n.place, message: "the " + string(closing) + " that belongs to this bracket is missing"}
		}
		read := r.flowItem
		if n.table {
			read = r.flowEntry
		}
		if f := read(to); f != nil {
			return nil, f
		}
		switch r.skip(); r.next() {
		case ',':
			r.pos++
		case closing, 0:
		default:
			return nil, r.fault("want , or %c", closing)
		}
	}
	r.pos++
	if len(n.keys) > 0 {
		n.place = n.keys[0].place
	}
	return n, nil
}

// flowItem reads an item of a list: a value, or a mapping of one key without braces.
func (r *reader) flowItem(to *entries) *fault {
	if r.next() == '[' || r.next() == '{' {
		n, f := r.flow()
		if f != nil {
			return f
		}
		return r.item(to.node, n)
	}
	t, f := r.token(inFlow)
	if f != nil {
		return f
	}
	if r.blanks(); !r.colonAfter(t, inFlow) {
		return r.item(to.node, t.node())
	}
	if f := r.enter(); f != nil {
		return f
	}
	defer r.leave()
	one := &node{place: t.place, table: true}
	if f := r.flowValue(r.entries(one), t); f != nil {
		return f
	}
	return r.item(to.node, one)
}

// flowEntry reads a key of a mapping and its value; a key alone has none.
func (r *reader) flowEntry(to *entries) *fault {
	t, f := r.token(inBraces)
	if f != nil {
		return f
	}
	if r.skip(); r.colonAfter(t, inBraces) {
		return r.flowValue(to, t)
	}
	k, f := to.key(t)
	if f == nil {
		to.put(k, &node{place: r.here()})
	}
	return f
}

// colonAfter reports whether a colon follows a token, which makes it a key.
func (r *reader) colonAfter(t token, in surroundings) bool {
	return r.colon(in) || r.next() == ':' && t.quoted && in != inBlock // as in JSON: {"a":1}
}

// flowValue reads the value after the colon of a key.
func (r *reader) flowValue(to *entries, t token) *fault {
	k, f := to.key(t)
	if f != nil {
		return f
	}
	r.pos++
	value := &node{place: r.here()}
	switch r.skip(); {
	case r.next() == '[' || r.next() == '{':
		value, f = r.flow()
	case strings.IndexByte(",]}", r.next()) < 0 && r.next() != 0:
		var t token
		if t, f = r.token(inFlow); f == nil {
			value = t.node()
		}
	}
	if f == nil {
		to.put(k, value)
	}
	return f
}
