package arrays

import (
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/starling-smc/starling/internal/testkit"
)

// bomb packs a header and then zeros, n in all.
func bomb(t *testing.T, header []byte, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<16)
	if _, err := z.Write(header); err != nil {
		t.Fatal(err)
	}
	for n -= len(header); n > 0; n -= len(zeros) {
		if _, err := z.Write(zeros[:min(n, len(zeros))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileNPY holds files of our own invention: each is refused for its own reason, with its name and a place, and
// for little memory.
func TestHostileNPY(t *testing.T) {
	testkit.NoThreads(t)
	dict := func(d string) []byte { return testkit.NPYBytes(d + "\n") }
	const rest = "'fortran_order': False, 'shape': (), }"
	good := testkit.NPYOf("<i2", "(2,)", 1, 0, 2, 0)
	version := func(major, minor byte) []byte {
		raw := slices.Clone(good)
		raw[6], raw[7] = major, minor
		return raw
	}
	length := func(n ...byte) []byte { return slices.Concat([]byte(NPYMagic), []byte{2, 0}, n, good[10:]) }
	packed := testkit.Gzipped(t, good)
	badSum := slices.Clone(packed)
	badSum[len(badSum)-8] ^= 1
	badSize := slices.Clone(packed)
	badSize[len(badSize)-1] ^= 1
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"empty":                   {nil, "byte 0: header: the file ends early"},
		"magic alone":             {[]byte(NPYMagic), "byte 6: header: the file ends early"},
		"no length":               {good[:8], "byte 8: length of the header"},
		"half a length":           {good[:9], "byte 9: length of the header"},
		"half a length of 4":      {version(2, 0)[:11], "byte 11: length of the header"},
		"IDX":                     {[]byte{0, 0, 8, 1, 0, 0, 0, 0}, "byte 0: 00 00 08 01 is not the beginning"},
		"a zip archive":           {[]byte("PK\x03\x04 and so on"), "byte 0: 50 4b 03 04"},
		"text":                    {[]byte("1,2,3\n"), "byte 0: 31 2c 32 2c"},
		"version 0":               {version(0, 0), "byte 6: NumPy format 0.0"},
		"version 4":               {version(4, 0), "byte 6: NumPy format 4.0"},
		"version 1.1":             {version(1, 1), "byte 6: NumPy format 1.1"},
		"header of 4 GB":          {length(255, 255, 255, 255), "byte 8: a header of 4,294,967,295 bytes"},
		"header of 64 KB":         {length(0, 0, 1, 0), "byte 8: a header of 65,536 bytes"},
		"header past the end":     {length(0, 1, 0, 0), "the file ends early: the header has 256 bytes"},
		"header too short":        {testkit.NPYBytes("{'descr': '<i2', 'fortran_order'"), "ends early, want :"},
		"no header":               {testkit.NPYBytes(""), "byte 10: header: ends early, want {"},
		"blank header":            {testkit.NPYBytes("       \n"), "byte 18: header: ends early, want {"},
		"a list":                  {dict("[('descr', '<i2')]"), `"[('descr', '", want {`},
		"unclosed":                {dict("{'descr': '<i2', 'fortran_order': False, 'shape': (),"), "want a text in quotes"},
		"unclosed quote":          {dict("{'descr: "), "want a plain text in quotes"},
		"no key":                  {dict("{}"), `the key "descr" is missing`},
		"no dtype":                {dict("{" + rest), `the key "descr" is missing`},
		"no shape":                {dict("{'descr': '<i2', 'fortran_order': False}"), `the key "shape" is missing`},
		"no order":                {dict("{'descr': '<i2', 'shape': (2,)}"), `the key "fortran_order" is missing`},
		"a key twice":             {dict("{'descr': '<i2', 'descr': '<i2', " + rest), `byte 27: header: the key "descr" comes twice`},
		"a fourth key":            {dict("{'descr': '<i2', 'offset': 3, " + rest), `byte 27: header: unknown key "offset"`},
		"a key without quotes":    {dict("{descr: '<i2', " + rest), "want a text in quotes"},
		"a key that is a number":  {dict("{1: '<i2', " + rest), "want a text in quotes"},
		"a key with an escape":    {dict(`{'de\x73cr': '<i2', ` + rest), "want a plain text"},
		"no colon":                {dict("{'descr' '<i2', " + rest), "want : after a key"},
		"no comma":                {dict("{'descr': '<i2' " + rest), "want , or }"},
		"two commas":              {dict("{'descr': '<i2',, " + rest), "want a text in quotes"},
		"text after it":           {dict("{'descr': '<i2', " + rest + " x"), "want nothing but blanks after }"},
		"a zero after it":         {dict("{'descr': '<i2', " + rest + "\x00"), "want nothing but blanks after }"},
		"two of them":             {dict("{'descr': '<i2', " + rest + "{}"), "want nothing but blanks after }"},
		"order is 0":              {dict("{'descr': '<i2', 'fortran_order': 0, 'shape': ()}"), "want fortran_order True or False"},
		"order is true":           {dict("{'descr': '<i2', 'fortran_order': true, 'shape': ()}"), "want fortran_order True or False"},
		"order is text":           {dict("{'descr': '<i2', 'fortran_order': 'True', 'shape': ()}"), "want fortran_order True or False"},
		"shape is a list":         {testkit.NPYOf("<i2", "[2]", 1, 0, 2, 0), "want a shape such as (2, 3)"},
		"shape is a number":       {testkit.NPYOf("<i2", "2", 1, 0, 2, 0), "want a shape such as (2, 3)"},
		"shape in brackets":       {testkit.NPYOf("<i2", "(2)", 1, 0, 2, 0), "want , in a shape of one dimension"},
		"shape None":              {testkit.NPYOf("<i2", "None", 1, 0, 2, 0), "want a shape such as (2, 3)"},
		"shape with a comma":      {testkit.NPYOf("<i2", "(,)", 1, 0, 2, 0), "want a size"},
		"shape with two commas":   {testkit.NPYOf("<i2", "(2,,)", 1, 0, 2, 0), "want a size"},
		"shape without a comma":   {testkit.NPYOf("<i2", "(2 2)", 1, 0, 2, 0), "want , or ) in the shape"},
		"shape never closed":      {testkit.NPYOf("<i2", "(2,", 1, 0, 2, 0), "want a size"},
		"nested shape":            {testkit.NPYOf("<i2", "((2,),)", 1, 0, 2, 0), "want a size"},
		"fraction":                {testkit.NPYOf("<i2", "(2.0,)", 1, 0, 2, 0), "want , or ) in the shape"},
		"exponent":                {testkit.NPYOf("<i2", "(2e0,)", 1, 0, 2, 0), "want a size"},
		"hexadecimal":             {testkit.NPYOf("<i2", "(0x2,)", 1, 0, 2, 0), "want a size"},
		"octal":                   {testkit.NPYOf("<i2", "(02,)", 1, 0, 2, 0), "want a size"},
		"underscore":              {testkit.NPYOf("<i2", "(1_0,)", 1, 0, 2, 0), "want a size"},
		"plus":                    {testkit.NPYOf("<i2", "(+2,)", 1, 0, 2, 0), "want a size"},
		"minus zero":              {testkit.NPYOf("<i2", "(-0,)"), "want sizes that are not negative"},
		"long":                    {testkit.NPYOf("<i2", "(2L,)", 1, 0, 2, 0), "want a size"},
		"True":                    {testkit.NPYOf("<i2", "(True, 2)", 1, 0, 2, 0), "want a size"},
		"text in the shape":       {testkit.NPYOf("<i2", "('2',)", 1, 0, 2, 0), "want a size"},
		"size of 2^63":            {testkit.NPYOf("<i2", "(9223372036854775808,)"), "the size 9223372036854775808 is more than"},
		"size of 100 digits":      {testkit.NPYOf("<i2", "("+strings.Repeat("9", 100)+",)"), "is more than a machine can address"},
		"product is 2^63":         {testkit.NPYOf("<i2", "(2147483648, 2147483648)"), "more values than a machine can address"},
		"product is 2^64":         {testkit.NPYOf("|u1", "(4294967296, 4294967296)"), "more values than a machine can address"},
		"product is 2^64, empty":  {testkit.NPYOf("|u1", "(0, 4294967296, 4294967296)"), "more values than a machine can address"},
		"65 dimensions":           {testkit.NPYOf("|u1", "("+strings.Repeat("1, ", 65)+")", 1), "more than 64 dimensions"},
		"claims 10 GB":            {testkit.NPYOf("<f8", "(1342177280,)", 1, 2, 3), "needs 10,737,418,240 bytes of values, 3 follow"},
		"claims 10 GB, packed":    {testkit.Gzipped(t, testkit.NPYOf("<f8", "(1342177280,)", 1, 2, 3)), "claims 10,737,418,240 bytes"},
		"claims 7 MB, packed":     {testkit.Gzipped(t, testkit.NPYOf("|u1", "(7340032,)", 1, 2)), "needs 7,340,032 bytes"},
		"claims 7 MB, F, packed":  {testkit.Gzipped(t, testkit.NPYBytes("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3670016)}", 1, 2)), "needs 7,340,032 bytes"},
		"one value short":         {good[:len(good)-2], "needs 4 bytes of values, 2 follow"},
		"half a value short":      {good[:len(good)-1], "needs 4 bytes of values, 3 follow"},
		"a byte too many":         {append(slices.Clone(good), 0), "bytes follow after the last value"},
		"a line end too many":     {append(slices.Clone(good), '\n'), "bytes follow after the last value"},
		"two arrays":              {slices.Concat(good, good), "bytes follow after the last value"},
		"two arrays, packed":      {slices.Concat(packed, packed), "bytes follow after the last value"},
		"values of an empty one":  {testkit.NPYOf("<i2", "(0,)", 1, 0), "bytes follow after the last value"},
		"a scalar without value":  {testkit.NPYOf("<i2", "()"), "needs 2 bytes of values, 0 follow"},
		"objects":                 {testkit.NPYOf("|O", "(1,)", 0x80, 4, 'N', '.'), "never unpickled"},
		"complex":                 {testkit.NPYOf("<c8", "(1,)", 0, 0, 0, 0, 0, 0, 0, 0), `dtype "<c8" is none of`},
		"text of 5":               {testkit.NPYOf("<U5", "(0,)"), `dtype "<U5" is none of`},
		"bytes of 5":              {testkit.NPYOf("|S5", "(0,)"), `dtype "|S5" is none of`},
		"dates":                   {testkit.NPYOf("<M8[ns]", "(0,)"), `dtype "<M8[ns]" is none of`},
		"void (bfloat16)":         {testkit.NPYOf("<V2", "(0,)"), `dtype "<V2" is none of`},
		"float of 16 bytes":       {testkit.NPYOf("<f16", "(0,)"), `dtype "<f16" is none of`},
		"int of 3 bytes":          {testkit.NPYOf("<i3", "(0,)"), `dtype "<i3" is none of`},
		"no order of bytes":       {testkit.NPYOf("f8", "(0,)"), `dtype "f8" is none of`},
		"native order":            {testkit.NPYOf("=f8", "(0,)"), "does not begin with its byte order"},
		"no order of 8":           {testkit.NPYOf("|f8", "(0,)"), "does not begin with its byte order"},
		"no dtype in quotes":      {testkit.NPYOf("", "(0,)"), `dtype "" is none of`},
		"records":                 {dict("{'descr': [('a', '<f4'), ('b', '<i2')], " + rest), "records with fields"},
		"dtype is a tuple":        {dict("{'descr': ('<f4', (2,)), " + rest), "want a text in quotes"},
		"checksum":                {badSum, "gzip: invalid checksum"},
		"size in gzip":            {badSize, "gzip: invalid checksum"},
		"packed, cut in its end":  {packed[:len(packed)-3], "the file ends early"},
		"packed, cut in its body": {packed[:len(packed)/2], "the file ends early"},
		"packed, then text":       {append(slices.Clone(packed), "more"...), "what follows the packed data is not gzip"},
		"packed, then a line":     {append(slices.Clone(packed), "more than ten bytes\n"...), "what follows the packed data is not gzip"},
		"packed twice":            {testkit.Gzipped(t, packed), "1f 8b 08 00 is not the beginning"},
		"bomb after the values":   {bomb(t, good, 1<<26), "bytes follow after the last value"},
		"bomb that says so":       {bomb(t, testkit.NPYOf("|u1", "(67108864,)"), 1<<26), "claims 67,108,864 bytes"},
		"bomb in the header":      {bomb(t, slices.Concat([]byte(NPYMagic), []byte{2, 0, 0, 0, 0, 4}), 1<<26), "a header of 67,108,864 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if n := testkit.Allocated(func() { _, err = decodeNPY("x", c.raw) }); n > 1<<20 {
				t.Errorf("allocates %d bytes for a file of %d", n, len(c.raw))
			}
			if err == nil || !strings.HasPrefix(err.Error(), "x: byte ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if len(c.raw) < 1<<15 {
				sameArray(t, c.raw, 1)
			}
		})
	}
}
