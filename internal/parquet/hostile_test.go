package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/starling-smc/starling/internal/testkit"
)

// Types and codecs, as numbers of a file.
const (
	boolean, int32s, int64s, double, str = 0, 1, 2, 5, 6
	plainly, snappily, zipped, zstdly    = 0, 1, 2, 6
	lz4ly                                = 7
)

// column is a column of one row group: its pages.
type column struct {
	kind, repeated, codec int64
	pages                 []byte
}

// craft makes a file of columns c0, c1, … of one row group.
func craft(rows int64, columns ...column) []byte {
	var body []byte
	schema := []testkit.ParquetColumn{{Name: "root", Type: -1, Children: int64(len(columns))}}
	var chunks []testkit.ParquetChunk
	for j, c := range columns {
		schema = append(schema, testkit.ParquetColumn{Name: fmt.Sprint("c", j), Type: c.kind, Repeated: c.repeated})
		chunks = append(chunks, testkit.ParquetChunk{Type: c.kind, Codec: c.codec, Values: rows, From: int64(4 + len(body)), Bytes: int64(len(c.pages))})
		body = append(body, c.pages...)
	}
	return testkit.ParquetFile(body, rows, schema, testkit.ParquetGroup(rows, chunks...))
}

// page is a page of plain values, or of another encoding.
func page(values, encoding int64, body []byte) []byte {
	return testkit.ParquetPage{Values: values, Encoding: encoding, Size: int64(len(body)), Body: body}.Bytes()
}

// packedPage is a page that claims a size.
func packedPage(kind, values, encoding, size int64, body []byte) []byte {
	return testkit.ParquetPage{Kind: kind, Values: values, Encoding: encoding, Size: size, Body: body}.Bytes()
}

// lengthed puts the length before a text.
func lengthed(b []byte) []byte { return append(little.AppendUint32(nil, uint32(len(b))), b...) }

func floats(v ...float64) (b []byte) {
	for _, x := range v {
		b = little.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func zstdOf(t testing.TB, b []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// read reads a file of at most so many rows as text, at most some bytes of it.
func read(raw []byte, rows, most int64) (string, error) {
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), func(string) bool { return true })
	if err != nil {
		return "", err
	}
	if f.Rows > rows {
		return "", errors.New("more rows")
	}
	for _, c := range f.Columns {
		if c.What != "" {
			return "", errors.New(c.What)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f.Text(), most))
	return string(text), err
}

// small are small files as they should be, by what they show, with their text.
func small(t testing.TB) map[string]struct {
	raw  []byte
	want string
} {
	gz := func(b []byte) []byte { return testkit.Gzipped(t, b) }
	two := floats(1, 2.5)
	deltas := binary.AppendVarint([]byte{0x80, 1, 4, 3}, 7)                // three numbers in blocks of 128, of 4 parts; 7
	deltas = append(binary.AppendVarint(deltas, -1), 2, 0, 0, 0)           // −1 and two bits more
	deltas = append(deltas, append([]byte{0b1101}, make([]byte, 7)...)...) // 1, 3: so 7, 7, 9
	strings := slices.Concat(lengthed([]byte("a")), lengthed([]byte(`b"c`)))
	dictionary := testkit.ParquetPage{Kind: 2, Values: 2, Size: 16, Body: two}.Bytes()
	return map[string]struct {
		raw  []byte
		want string
	}{
		"plain":      {craft(2, column{kind: double, pages: page(2, 0, two)}), "1\n2.5\n"},
		"levels":     {craft(3, column{kind: double, repeated: 1, pages: page(3, 0, append(lengthed([]byte{3, 0b101}), two...))}), "1\n\"\"\n2.5\n"},
		"all null":   {craft(5, column{kind: double, repeated: 1, pages: page(5, 0, lengthed([]byte{10, 0}))}), strings5(`""`)},
		"places":     {craft(3, column{kind: double, pages: append(dictionary, page(3, 8, []byte{1, 3, 0b010})...)}), "1\n2.5\n1\n"},
		"snappy":     {craft(2, column{kind: double, codec: snappily, pages: packedPage(0, 2, 0, 16, snappy.Encode(nil, two))}), "1\n2.5\n"},
		"gzip":       {craft(2, column{kind: double, codec: zipped, pages: packedPage(0, 2, 0, 16, gz(two))}), "1\n2.5\n"},
		"zstd":       {craft(2, column{kind: double, codec: zstdly, pages: packedPage(0, 2, 0, 16, zstdOf(t, two))}), "1\n2.5\n"},
		"strings":    {craft(2, column{kind: str, pages: page(2, 0, strings)}), "\"a\"\n\"b\"\"c\"\n"},
		"booleans":   {craft(3, column{kind: boolean, pages: page(3, 0, []byte{0b101})}), "true\nfalse\ntrue\n"},
		"runs":       {craft(3, column{kind: boolean, pages: page(3, 3, lengthed([]byte{6, 1}))}), "true\ntrue\ntrue\n"},
		"deltas":     {craft(3, column{kind: int64s, pages: page(3, 5, deltas)}), "7\n7\n9\n"},
		"deltas 32":  {craft(3, column{kind: int32s, pages: page(3, 5, deltas)}), "7\n7\n9\n"},
		"second":     {craft(2, column{kind: double, pages: testkit.ParquetPage{Kind: 3, Values: 2, Size: 16, Body: two}.Bytes()}), "1\n2.5\n"},
		"two pages":  {craft(2, column{kind: double, pages: append(page(1, 0, two[:8]), page(1, 0, two[8:])...)}), "1\n2.5\n"},
		"an empty":   {craft(2, column{kind: double, pages: append(page(0, 0, nil), page(2, 0, two)...)}), "1\n2.5\n"},
		"split":      {craft(2, column{kind: int32s, pages: page(2, 9, []byte{1, 2, 0, 0, 0, 0, 0, 0})}), "1\n2\n"},
		"more bytes": {craft(1, column{kind: double, pages: page(1, 0, two)}), "1\n"},
	}
}

func strings5(s string) string { return strings.Repeat(s+"\n", 5) }

// TestCrafted: files by hand that are right are read: so what TestHostile refuses is refused for its fault.
func TestCrafted(t *testing.T) {
	for name, c := range small(t) {
		if got, err := read(c.raw, math.MaxInt64, 1<<20); err != nil || got != "\"c0\"\n"+c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestHostile: files that claim what they do not hold are refused with the place and the fault, in memory that is in proportion to them.
func TestHostile(t *testing.T) {
	testkit.NoThreads(t)
	two := floats(1, 2.5)
	one := func(kind int64, pages []byte) []byte { return craft(2, column{kind: kind, pages: pages}) }
	maybe := func(rows int64, levels ...byte) []byte {
		return craft(rows, column{kind: double, repeated: 1, pages: page(rows, 0, append(lengthed(levels), two...))})
	}
	coded := func(codec, size int64, b []byte) []byte {
		return craft(2, column{kind: double, codec: codec, pages: packedPage(0, 2, 0, size, b)})
	}
	dictionary := func(n int64, body []byte, places ...byte) []byte {
		return one(double, append(packedPage(2, n, 0, int64(len(body)), body), page(2, 8, places)...))
	}
	schema := func(elements ...testkit.ParquetColumn) []byte { return testkit.ParquetFile(nil, 0, elements) }
	double0 := testkit.ParquetColumn{Name: "a", Type: double}
	root := func(n int64) testkit.ParquetColumn { return testkit.ParquetColumn{Name: "root", Type: -1, Children: n} }
	chunks := func(rows int64, chunks ...testkit.ParquetChunk) []byte {
		elements := []testkit.ParquetColumn{root(int64(len(chunks)))}
		for j := range chunks {
			elements = append(elements, testkit.ParquetColumn{Name: fmt.Sprint("c", j), Type: chunks[j].Type})
		}
		return testkit.ParquetFile(page(2, 0, two), rows, elements, testkit.ParquetGroup(rows, chunks...))
	}
	whole := int64(len(page(2, 0, two)))
	wide := func(columns int, codec int64, rows int64, b []byte) []byte { // each has its own page
		var all []column
		for range columns {
			all = append(all, column{kind: double, codec: codec, pages: packedPage(0, rows, 0, 8*rows, b)})
		}
		return craft(rows, all...)
	}
	zeros := make([]byte, 48<<20)
	delta := func(kind int64, b ...byte) []byte {
		encoding := int64(5)
		if kind == str {
			encoding = 6
		}
		return one(kind, page(2, encoding, b))
	}
	nested := []testkit.ParquetColumn{root(1)}
	for range 1000 {
		nested = append(nested, testkit.ParquetColumn{Name: "g", Type: -1, Children: 1})
	}
	var windowed bytes.Buffer
	windowed.Write([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0}) // a window of a gigabyte, no size
	windowed.Write([]byte{1, 0, 0})                         // a last block of nothing
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"a level of 255":               {maybe(2, 4, 255), "column 1 (c0): its levels: the Parquet file is damaged: a level, or a place in a dictionary, of 255"},
		"a level of 2":                 {maybe(2, 4, 2), "of 2, where 1 is the largest"},
		"levels of more":               {maybe(2, 0xfe, 0xff, 0xff, 0x0f, 1), "a run of 16777215 numbers"},
		"levels of fewer":              {maybe(2, 2, 1), "a run has no length: 1 numbers are missing"},
		"no levels":                    {maybe(2), "a run has no length: 2 numbers are missing"},
		"packed levels of more":        {maybe(2, 0xff, 0xff, 0xff, 0x0f, 1), "times eight packed numbers"},
		"levels beyond the page":       {craft(2, column{kind: double, repeated: 1, pages: page(2, 0, append([]byte{255, 255, 255, 255}, two...))}), "a length of 4294967295 bytes, where 16 are left"},
		"more there than values":       {maybe(3, 6, 1), "16 bytes for 3 values"},
		"second levels beyond":         {craft(2, column{kind: double, repeated: 1, pages: testkit.ParquetPage{Kind: 3, Values: 2, Size: 16, Levels: 99, Body: two}.Bytes()}), "claims 99 bytes of levels"},
		"second levels negative":       {craft(2, column{kind: double, repeated: 1, pages: testkit.ParquetPage{Kind: 3, Values: 2, Size: 16, Levels: -1, Body: two}.Bytes()}), "claims -1 bytes of levels"},
		"shared by columns":            {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: whole}, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: whole}), "column c0 of row group 0 and column c1 of row group 0 are in the same bytes"},
		"overlapping by one":           {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: 10}, testkit.ParquetChunk{Type: double, Values: 2, From: 13, Bytes: 10}), "are in the same bytes of the file, from 13 on"},
		"from the beginning":           {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 0, Bytes: whole}), "in bytes 0 to"},
		"into the description":         {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: whole + 20}), "which are not those of values"},
		"beyond the end":               {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: math.MaxInt64}), "beyond its end"},
		"before the beginning":         {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: -4, Bytes: whole}), "beyond its end"},
		"negative bytes":               {chunks(2, testkit.ParquetChunk{Type: double, Values: 2, From: 4, Bytes: -1}), "beyond its end"},
		"rows of nothing":              {chunks(1<<39, testkit.ParquetChunk{Type: double, Values: 1 << 39, From: 4}), "claims 549755813888 rows of column c0 in 0 bytes"},
		"rows of little":               {chunks(1<<39, testkit.ParquetChunk{Type: double, Values: 1 << 39, From: 4, Bytes: whole}), "claims 549755813888 rows of column c0 in"},
		"negative rows":                {chunks(-1, testkit.ParquetChunk{Type: double, Values: -1, From: 4, Bytes: whole}), "row group 0 claims -1 rows"},
		"other values":                 {chunks(2, testkit.ParquetChunk{Type: double, Values: 3, From: 4, Bytes: whole}), "has 2 rows, and 3 values"},
		"an unknown codec":             {chunks(2, testkit.ParquetChunk{Type: double, Codec: 99, Values: 2, From: 4, Bytes: whole}), "is packed with"},
		"a large page of a row":        {craft(1, column{kind: double, codec: zstdly, pages: packedPage(0, 1, 0, int64(len(zeros)), zstdOf(t, zeros))}), "a page of 50,331,648 bytes for 1 value of 8 bytes"},
		"large pages of all columns":   {wide(9, zstdly, 6<<20, zstdOf(t, zeros)), "more than 268,435,456 bytes of memory"},
		"a page of 300 MB":             {coded(zstdly, 300<<20, two), "a page of 314572800 bytes: at most"},
		"a negative size":              {coded(snappily, -1, two), "a page of -1 bytes"},
		"snappy of more":               {coded(snappily, 1016, snappy.Encode(nil, two)), "claims 1,016 bytes"},
		"snappy that says more":        {coded(snappily, 16, append([]byte{0xff, 0xff, 0xff, 0xff, 15}, two...)), "claims 16 bytes unpacked"},
		"gzip of more":                 {coded(zipped, 17, testkit.Gzipped(t, two)), "the file ends early"},
		"gzip of less":                 {coded(zipped, 15, testkit.Gzipped(t, two)), "claims 15 bytes unpacked"},
		"a bomb of gzip":               {coded(zipped, 16, testkit.Gzipped(t, zeros)), "claims 16 bytes unpacked"},
		"zstd of more":                 {coded(zstdly, 17, zstdOf(t, two)), "claims 17 bytes unpacked"},
		"zstd of less":                 {coded(zstdly, 15, zstdOf(t, two)), "cannot be unpacked"},
		"a bomb of zstd":               {coded(zstdly, 16, zstdOf(t, zeros)), "cannot be unpacked"},
		"a window of zstd":             {coded(zstdly, 16, windowed.Bytes()), "the Parquet file is damaged: a page c"},
		"lz4 of more":                  {coded(lz4ly, 17, append([]byte{0xf0, 1}, two...)), "does not have so many"},
		"lz4 damaged":                  {coded(lz4ly, 16, two), "a page c"},
		"plain of more":                {coded(plainly, 17, two), "claims 17 bytes, and has 16"},
		"a body beyond":                {one(double, testkit.ParquetPage{Values: 2, Size: 16, Packed: 1 << 30, Body: two}.Bytes()), "a page claims 1073741824 bytes of the"},
		"a negative body":              {one(double, testkit.ParquetPage{Values: 2, Size: 16, Packed: -1, Body: two}.Bytes()), "a page claims -1 bytes"},
		"more values than rows":        {one(double, page(3, 0, append(two, two...))), "a page claims 3 values, where at most 2 are left"},
		"negative values":              {one(double, page(-2, 0, two)), "a page claims -2 values"},
		"beyond 32 bits":               {one(double, page(2+1<<32, 0, two)), "no description of a Parquet file"},
		"fewer bytes than values":      {one(double, page(2, 0, two[:15])), "15 bytes for 2 values"},
		"fewer pages than rows":        {one(double, page(1, 0, two[:8])), "1 rows of its row group are in none of its pages"},
		"a string beyond":              {one(str, page(2, 0, append(lengthed([]byte("a")), 255, 255, 255, 127, 'b'))), "a length of 2147483647 bytes, where 1 are left"},
		"fewer strings":                {one(str, page(2, 0, lengthed([]byte("a")))), "5 bytes for 2 strings"},
		"fewer booleans":               {craft(9, column{kind: boolean, pages: page(9, 0, []byte{1})}), "1 bytes for 9 booleans"},
		"a place beyond":               {dictionary(2, two, 2, 4, 3), "place 3 in a dictionary of 2 values"},
		"a place at the end":           {dictionary(2, two, 2, 4, 2), "place 2 in a dictionary of 2 values"},
		"places of 33 bits":            {dictionary(2, two, 33, 4, 1), "without a dictionary or without their width"},
		"no dictionary":                {one(double, page(2, 8, []byte{1, 4, 1})), "without a dictionary"},
		"a dictionary of more":         {dictionary(3, two, 1, 4, 1), "its dictionary: the Parquet file is damaged: 16 bytes for 3 values"},
		"a dictionary of −1":           {dictionary(-1, two, 1, 4, 1), "a page claims -1 values"},
		"a dictionary of 2³¹":          {dictionary(math.MaxInt32, two, 1, 4, 1), "a page claims 2147483647 values"},
		"a large dictionary of two":    {dictionary(2, zeros, 1, 4, 1), "a page of 50,331,648 bytes for 2 values"},
		"pages of none":                {one(double, bytes.Repeat(page(0, 0, nil), 10_000)), "2 rows of its row group are in none of its pages"},
		"differences of 0":             {delta(int64s, 0, 4, 2, 0), "differences in blocks of 0"},
		"differences in 0 parts":       {delta(int64s, 0x80, 1, 0, 2, 0), "of 0 parts each"},
		"differences of 2⁶⁰":           {delta(int64s, 0x80, 1, 4, 255, 255, 255, 255, 255, 255, 255, 255, 15, 0), "differences for 2 values"},
		"differences in large blocks":  {delta(int64s, 0x80, 0x80, 0x80, 1, 4, 2, 0), "differences in blocks of 2097152"},
		"differences of 255 bits":      {delta(int64s, 0x80, 1, 4, 2, 0, 0, 255, 0, 0, 0, 1, 2, 3), "differences of 255 bits each"},
		"differences of 65 bits":       {delta(int64s, append([]byte{0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0}, make([]byte, 260)...)...), "differences of 65 bits each"},
		"differences that end":         {delta(int64s, 0x80, 1, 4, 2, 0, 0, 8, 0, 0, 0, 1, 2, 3), "32 differences of 8 bits each in 3 bytes"},
		"no differences":               {delta(int32s, 0x80, 1, 4, 2, 0), "ends early"},
		"strings of negative lengths":  {delta(str, 0x80, 1, 4, 2, 1, 1, 0, 0, 0, 0, 'a', 'b'), "a string of -1 bytes"},
		"strings of large lengths":     {delta(str, 0x80, 1, 4, 2, 0xfe, 0xff, 0xff, 0xff, 0xf, 0, 0, 0, 0, 0, 'a', 'b'), "a string of 2147483647 bytes"},
		"strings beyond":               {delta(str, 0x80, 1, 4, 2, 4, 0, 0, 0, 0, 0, 'a', 'b', 'c'), "strings of 4 bytes, of which 3 follow"},
		"claimed columns":              {schema(root(math.MaxInt32), double0), "claims 2147483647 columns, and lists 1"},
		"negative columns":             {schema(root(-5), double0), "claims -5 columns, and lists 1"},
		"no columns":                   {schema(root(0)), "has no columns"},
		"no table":                     {schema(), "lists no table"},
		"a column for a table":         {schema(double0), "lists no table"},
		"more than claimed":            {schema(root(1), double0, double0), "lists 1 columns and groups more than it claims"},
		"columns within columns":       {schema(nested...), "more than 32 deep"},
		"fields that are not there":    {schema(root(1), testkit.ParquetColumn{Name: "g", Type: -1, Children: 3}, double0), "and claims more"},
		"100,000 columns":              {schema(append([]testkit.ParquetColumn{root(100_000)}, slices.Repeat([]testkit.ParquetColumn{double0}, 100_000)...)...), "has 100000 columns: at most 65536"},
		"a description of empty parts": {testkit.ParquetEnds(nil, new(testkit.Thrift).I32(1, 1).Structs(2, slices.Repeat([][]byte{{0}}, 1<<20)...).End()), "it lists 1048576 parts in"},
		"empty columns of a group":     {testkit.ParquetEnds(nil, new(testkit.Thrift).I32(1, 1).Structs(4, new(testkit.Thrift).Structs(1, slices.Repeat([][]byte{{0}}, 1<<20)...).End()).End()), "it lists 1048577 parts in"},
		"no beginning":                 {slices.Concat(two, craft(2, column{kind: double, pages: page(2, 0, two)})[8:]), "ends as Parquet does, with PAR1, and does not begin so"},
		"neither":                      {bytes.Repeat(two, 10), "neither begins nor ends as Parquet does"},
		"a long string":                {craft(1, column{kind: str, pages: page(1, 0, lengthed(make([]byte, 5<<20)))}), "a row of more than 4,194,303 bytes as text"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			var text string
			n := testkit.Allocated(func() { text, err = read(c.raw, math.MaxInt64, 1<<16) })
			if most := uint64(1<<20 + 64*len(c.raw)); !strings.HasPrefix(name, "large pages") && n > most {
				t.Errorf("allocates %d bytes for a file of %d", n, len(c.raw))
			} else if n > mostHeld+most {
				t.Errorf("allocates %d bytes for pages", n)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%.50q, error %v, want one with %q", text, err, c.want)
			}
		})
	}
}

// TestRowsOfNothing: a column of missing values takes no memory, however many rows it has.
func TestRowsOfNothing(t *testing.T) {
	testkit.NoThreads(t)
	levels := lengthed(append(binary.AppendUvarint(nil, fewValues<<1), 0))
	var all []column
	for range 50 {
		all = append(all, column{kind: double, repeated: 1, pages: bytes.Repeat(page(fewValues, 0, levels), 3)})
	}
	raw := craft(3*fewValues, all...)
	if n := testkit.Allocated(func() {
		if text, err := read(raw, math.MaxInt64, 1<<16); err != nil || len(text) != 1<<16 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}); n > 1<<20 {
		t.Errorf("takes %d bytes", n)
	}
}

// FuzzText: pages and a description of any bytes are an error or a text, without a panic, in memory in proportion to them. Its beginning
// is looked at, and no more rows than a moment takes: a few bytes may be many.
func FuzzText(f *testing.F) {
	for _, c := range small(f) {
		end := len(c.raw) - Tail
		body := end - int(little.Uint32(c.raw[end:]))
		f.Add(c.raw[len(magic):body], c.raw[body:end])
	}
	taken := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	allocated := func() uint64 { // without stopping the world, as often as this is asked
		metrics.Read(taken)
		return taken[0].Value.Uint64()
	}
	f.Fuzz(func(t *testing.T, body, description []byte) {
		before := allocated()
		read(testkit.ParquetEnds(body, description), 1<<12, 1<<12)
		if n := allocated() - before; n > 2*mostHeld {
			t.Fatalf("takes %d bytes for %d", n, len(body)+len(description))
		}
	})
}
