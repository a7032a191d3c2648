// Package config reads strict YAML into tagged Go structs and writes such structs as YAML. It knows no setting by name: the
// structs say what a config may hold.
//
// # Structs
//
// A setting is an exported field with a yaml tag. `yaml:"-"` marks a field that no config sets; in a struct with settings every
// exported field has a tag. The tag holds the name of the key and options:
//
//	`yaml:"rate"`                 a key of that name
//	`yaml:"rate,omitempty"`       not written where it is zero
//	`yaml:"units,short"`          the struct may be written as this value alone: {dense: 8} for {dense: {units: 8}}
//	`yaml:"units,brief"`          the same, but it is always written with its key, as it was before there was a short form
//	`yaml:",short"`               this value alone is all that is written: it has no key
//	`yaml:"bias,not"`             a bool whose key means the opposite: bias: false sets NoBias
//	`yaml:",inline"`              the settings of an embedded struct, or the rows of a family, stand among the struct's own keys
//	`yaml:"name,beside"`          a setting of a part, written beside the part's name, as in {dense: 8, name: fc1}
//	`yaml:"jitter,zero"`          a 0 that is written is a value, although there is a default
//	`yaml:"share,nonzero"`        a written 0 is refused, also where there is no default
//	`yaml:"s,required"`           the field has no default: a config must write it
//	`yaml:"random,one"`           a list whose only item may be written without brackets: random: first
//	`yaml:"groups,pairs"`         a list of structs of two strings, written as a mapping and kept in order: {noise: noise.npy}
//	`yaml:"keep" words:"last=-1"` the word stands for the number; several words are separated by commas
//
// A field is a bool, a number (int, uint64, float64), a string, a struct, a pointer to one of these, a list of them, an array
// (one value for all of its items, or a list) or a part of a family. A pointer is an optional block, or a scalar whose zero
// does not mean "left out". A null means "left out", in a file and in a --set.
//
// # Families
//
// A field of an interface type holds one part of a family, a [Table] that is given to [Parse]. A part with settings is written
// by the name of its row and its settings, {hmc: {steps: 3}}, or by its name alone, hmc, where its defaults suffice; one without
// settings by its name, relu. A part that is a number is written {ess: 0.5}, if no other row of the table has its type; or as
// 0.5 alone, if it is an [Alone].
//
// # Defaults and checks
//
// [Parse] decodes what is written, calls Defaults on every struct, outer ones first, and decodes what is written again over the
// defaults. Then it calls Check on every struct. Faults of decoding and of checks are reported together, each with its place. A
// Go program calls [Check] on the struct that it built: zero fields keep the meaning that their struct gives them.
package config
