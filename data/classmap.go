package data

import (
	"slices"
	"strconv"
	"strings"
)

// ClassMap says which class of a network each class of another data set is, or NoClass.
type ClassMap map[int32]int32

// NoClass marks a class of another data set that is none of the network's.
const NoClass int32 = -1

// ParseClassMap reads a ClassMap as 0=0,1=2,7=none: a class of the data, then the network's. No class may stand twice on a side. The
// error is a *FieldError without a field.
func ParseClassMap(text string) (ClassMap, error) {
	m := ClassMap{}
	number := func(s string) (int32, bool) {
		n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31)
		return int32(n), err == nil
	}
	for _, pair := range strings.Split(text, ",") {
		left, right, _ := strings.Cut(pair, "=")
		from, ok := number(left)
		to, some := number(right)
		if !some {
			to, some = NoClass, strings.TrimSpace(right) == "none"
		}
		if !ok || !some {
			return nil, fieldError("", "%q: want a class of the data = a class of the network, or none, as in 0=0,1=2,7=none", pair)
		}
		if _, twice := m[from]; twice {
			return nil, fieldError("", "class %d of the data stands twice: want each class once", from)
		}
		for other, class := range m {
			if to != NoClass && class == to {
				return nil, fieldError("", "class %d of the network stands for two classes of the data, %d and %d: want one", to, min(from, other), max(from, other))
			}
		}
		m[from] = to
	}
	return m, nil
}

// ReadClasses is Read for a set of other classes than the run's: a known set, or a file of inputs and a file of their labels. The
// examples of classes that the network has are in Problem.Test, with the network's labels, the others in Problem.Unshared.
func (s *Schema) ReadClasses(name, labels, dir string, m ClassMap) (*Problem, error) {
	if s.Classes == 0 {
		return nil, mapError("are for a network of classes: this one predicts numbers")
	}
	p, set, known := &Problem{Name: name, Schema: s}, (*Set)(nil), 0
	switch {
	case labels != "":
		inputs, targets, err := (&Arrays{name, labels}).read()
		if err != nil {
			return nil, err
		}
		if set, err = s.Examples("test", inputs); err != nil {
			return nil, err
		}
		if set.Labels, err = labelsOf(inputs, targets); err != nil {
			return nil, err
		}
	case IsKnown(name) && !Tabular(name):
		whole, err := s.readSet(name, dir, "test")
		if err != nil {
			return nil, err
		}
		p.Groups = whole.Groups
		if set = whole.Test; set == nil {
			set = whole.Train
		}
		known = set.Classes
	default:
		return nil, fieldError("", "%s: classes are numbered anew for an .npy or IDX of inputs with its labels, or for a set of images by name", name)
	}
	if err := m.check(set, known, s.Classes); err != nil {
		return nil, err
	}
	return p, p.share(set, m)
}

// mapError is a fieldError about a ClassMap, which the option --classes gives.
func mapError(format string, args ...any) error { return fieldError("", "--classes "+format, args...) }

// check refuses a map that does not fit the labels of a set or the classes of a network. known is the number of the set's classes, 0
// where only the labels are known.
func (m ClassMap) check(set *Set, known, classes int) error {
	most := int32(-1)
	for from, to := range m {
		most = max(most, from)
		if int(to) >= classes {
			return mapError("class %d of the network, for class %d of the data: it has %d classes, 0 to %d", to, from, classes, classes-1)
		}
	}
	if known > 0 && int(most) >= known {
		return mapError("class %d of the data: it has %d classes, 0 to %d", most, known, known-1)
	}
	missing := func(class int32) error {
		if _, ok := m[class]; ok {
			return nil
		}
		return mapError("class %d of the data is missing: say which class of the network it is, or %d=none", class, class)
	}
	for class := range int32(known) {
		if err := missing(class); err != nil {
			return err
		}
	}
	for _, class := range set.Labels {
		if err := missing(class); err != nil {
			return err
		}
	}
	return nil
}

// share divides a set into the examples whose classes the network has, and the others.
func (p *Problem) share(set *Set, m ClassMap) error {
	var shared, others []int32
	for i, class := range set.Labels {
		if m[class] == NoClass {
			others = append(others, int32(i))
		} else {
			shared = append(shared, int32(i))
		}
	}
	if shared == nil {
		return mapError("%s has no example of a class that the network has", p.Name)
	}
	p.Test = set.Select("test", shared)
	p.Test.Classes, p.Test.Names = p.Schema.Classes, p.Schema.Names
	for i, class := range p.Test.Labels {
		p.Test.Labels[i] = m[class]
	}
	if others == nil {
		return nil
	}
	taken := make([]bool, p.Schema.Classes)
	for _, class := range m {
		if class != NoClass {
			taken[class] = true
		}
	}
	p.Unshared = &Unshared{withoutTargets("other classes", set.Select("other classes", others)), int32(slices.Index(taken, false))}
	return nil
}
