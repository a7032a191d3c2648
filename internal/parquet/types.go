package parquet

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Column is a column of the table. What says in words what its values are, and Mend what to do about it, if it cannot be read; both
// are empty if it can.
type Column struct {
	Name       string
	What, Mend string
	Unused     bool // its values are not looked at: all are missing

	leaf     int
	kind     format.Type
	optional bool // values may be missing
	unsigned bool
	length   int  // bytes of a value of a fixed length
	scale    int  // decimal places of a decimal number
	number   bool // bytes are a decimal number, or a half-precision one of two bytes
	half     bool
}

// Numbers reports whether the values are numbers or booleans, not strings.
func (c *Column) Numbers() bool { return c.kind != format.ByteArray || c.number }

// Mends of columns that cannot be read.
const (
	asNumbers = "save it as numbers or strings, or leave it out"
	asFloats  = "save it as floats, or leave it out"
	asDays    = "save it as numbers, such as days since a date, or leave it out"
	asSeconds = "save it as numbers, such as seconds since a time, or leave it out"
	asColumns = "save each of its fields as a column of its own, or leave it out"
)

// older are the types of files that older programs wrote, which say nothing newer: whether they can be read, and unsigned ones.
var older = map[deprecated.ConvertedType]struct {
	what, mend string
	kind       format.Type
	unsigned   bool
}{
	deprecated.UTF8: {kind: format.ByteArray}, deprecated.Enum: {kind: format.ByteArray},
	deprecated.Int8: {kind: format.Int32}, deprecated.Int16: {kind: format.Int32}, deprecated.Int32: {kind: format.Int32}, deprecated.Int64: {kind: format.Int64},
	deprecated.Uint8: {kind: format.Int32, unsigned: true}, deprecated.Uint16: {kind: format.Int32, unsigned: true},
	deprecated.Uint32: {kind: format.Int32, unsigned: true}, deprecated.Uint64: {kind: format.Int64, unsigned: true},
	deprecated.Date:       {what: "dates", mend: asDays},
	deprecated.TimeMillis: {what: "times", mend: asSeconds}, deprecated.TimeMicros: {what: "times", mend: asSeconds},
	deprecated.TimestampMillis: {what: "times", mend: asSeconds}, deprecated.TimestampMicros: {what: "times", mend: asSeconds},
}

// mostDecimal bounds the bytes and the places of decimal numbers that are read: 38 digits, the most of any program, take 16 bytes.
const mostDecimal, mostPlaces = 32, 76

// decimal makes a column of decimal numbers: whole numbers in 4 or 8 bytes, or in bytes of big-endian order, with so many decimal places.
func (c *Column) decimal(scale int, e *format.SchemaElement) (what, mend string) {
	if scale < 0 || scale > mostPlaces {
		return fmt.Sprintf("decimals of %d places", scale), asFloats
	}
	c.scale = scale
	switch c.kind {
	case format.Int32, format.Int64:
	case format.FixedLenByteArray:
		if c.length = int(e.TypeLength.V); c.length < 1 || c.length > mostDecimal {
			return fmt.Sprintf("decimals of %d bytes", e.TypeLength.V), asFloats
		}
		c.number = true
	case format.ByteArray:
		c.number = true
	default:
		return fmt.Sprintf("decimals in %v", c.kind), asFloats
	}
	return "", ""
}

// of says what the values of a column are and how to mend it, if they cannot be read; else what else is needed to read them.
func (c *Column) of(e *format.SchemaElement) (what, mend string) {
	repeated := e.RepetitionType.Valid && e.RepetitionType.V == format.Repeated
	switch {
	case !e.Type.Valid:
		return "nested values", asColumns
	case repeated:
		return "lists", asColumns
	}
	physical := map[format.Type]bool{format.ByteArray: true}
	switch t := e.LogicalType.Value.(type) {
	case *format.StringType, *format.EnumType:
	case *format.NullType: // all values are missing
		return "", ""
	case *format.IntType:
		c.unsigned = !t.IsSigned
		physical = map[format.Type]bool{format.Int32: true, format.Int64: true}
	case *format.DecimalType:
		return c.decimal(int(t.Scale), e)
	case *format.Float16Type:
		if c.kind != format.FixedLenByteArray || e.TypeLength.V != 2 {
			return "half-precision numbers that do not have two bytes", asNumbers
		}
		c.length, c.number, c.half = 2, true, true
		return "", ""
	case *format.DateType:
		return "dates", asDays
	case *format.TimestampType, *format.TimeType:
		return "times", asSeconds
	case nil:
		if e.ConvertedType.Valid {
			if e.ConvertedType.V == deprecated.Decimal {
				return c.decimal(int(e.Scale.V), e)
			}
			was, known := older[e.ConvertedType.V]
			if was.what != "" {
				return was.what, was.mend
			}
			if !known || was.kind != c.kind {
				return fmt.Sprintf("values of the type %v", e.ConvertedType.V), asNumbers
			}
			c.unsigned = was.unsigned
			return "", ""
		}
		switch c.kind {
		case format.Int96:
			return "times", asSeconds
		case format.FixedLenByteArray:
			return "bytes of a fixed length", asNumbers
		case format.ByteArray:
			return "bytes", asNumbers
		}
		return "", ""
	default:
		return fmt.Sprintf("values of the type %v", t), asNumbers
	}
	if !physical[c.kind] {
		return fmt.Sprintf("values of the type %v in %v", e.LogicalType.Value, c.kind), asNumbers
	}
	return "", ""
}
