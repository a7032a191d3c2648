package config

import "errors"

// Values cuts a text into YAML values with commas between them, as in "0.1, learned, {fan_in: 2}": commas inside brackets, braces and
// quotes do not cut. Each value is returned as a text that a --set argument takes.
func Values(text string) ([]string, error) {
	n, f := parseValue([]byte("[" + text + "]"))
	switch {
	case f != nil:
		return nil, errors.New(f.message)
	case !n.list || len(n.items) == 0:
		return nil, errors.New("no value")
	}
	var all []string
	for _, item := range n.items {
		all = append(all, item.flow())
	}
	return all, nil
}
