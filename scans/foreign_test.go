package scans

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// utf16Of is a text in UTF-16, lower byte first.
func utf16Of(text string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(text)) {
		b.Write([]byte{byte(u), byte(u >> 8)})
	}
	return b.String()
}

// utf32Of is a text in UTF-32, lowest byte first.
func utf32Of(text string) string {
	var b []byte
	for _, r := range text {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return string(b)
}

// swapped16 exchanges each pair of pairs of bytes.
func swapped16(text string) string {
	b := []byte(text)
	for i := 0; i+3 < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+2], b[i+3], b[i], b[i+1]
	}
	return string(b)
}

// swapped exchanges each pair of bytes.
func swapped(text string) string {
	b := []byte(text)
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return string(b)
}

// TestForeign: a text that is packed in another way, or is no text, is named, with what to do; so are true states, and what gzip holds.
func TestForeign(t *testing.T) {
	const csv = "time,x\n1,2\n2,3\n"
	for text, want := range map[string]string{
		"\x28\xb5\x2f\xfd\x04\x58\x85\x01":      "the text is a file packed with zstd: unpack it first (zstd -d FILE)",
		"\xfd7zXZ\x00\x00\x04\xe6\xd6":          "the text is a file packed with xz: unpack it first (xz -d FILE)",
		"BZh91AY&SY\x01\x02":                    "the text is a file packed with bzip2: unpack it first (bzip2 -d FILE)",
		"BZh9\x17rE8P\x90\x00\x00\x00\x00":      "the text is a file packed with bzip2",
		"\x04\x22\x4d\x18\x64":                  "the text is a file packed with lz4",
		"7z\xbc\xaf\x27\x1c\x00\x04":            "the text is a file packed with 7z",
		"\xff\xfe" + utf16Of(csv):               "the text is UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8 FILE)",
		"\xfe\xff" + swapped(utf16Of(csv)):      "the text is UTF-16",
		utf16Of(csv):                            "the text is UTF-16",
		swapped(utf16Of(`{"time":1}`)):          "the text is UTF-16",
		packed("\xff\xfe" + utf16Of(csv)):       "the text is gzip of UTF-16",
		packed(packed(csv)):                     "the text is packed with gzip twice: unpack it once first (gzip -d FILE)",
		"\xff\xfe\x00\x00" + utf32Of(csv):       "the text is UTF-32: save it as UTF-8 (iconv -f UTF-32 -t UTF-8 FILE)",
		utf32Of(csv):                            "the text is UTF-32",
		swapped(swapped16(utf32Of(csv))):        "the text is UTF-32",
		packed("\xfd7zXZ\x00\x00\x04"):          "the text is gzip of a file packed with xz",
		"PK\x03\x04\x14\x00\x00\x00":            "the text is a zip archive",
		"PAR1\x15\x04\x15\x10":                  "the text is a Parquet file",
		"<!DOCTYPE html><title>Sign in</title>": "the text is a page of the web (HTML)",
	} {
		for pieces, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "end": iotest.DataErrReader,
		} {
			s := NewReader(reader(strings.NewReader(text)), Options{})
			if _, err := s.Next(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%.20q, %s: error %v, want %q", text, pieces, err, want)
			}
		}
		s := NewReader(strings.NewReader(csv), Options{Truth: strings.NewReader(text)})
		if _, err := s.Next(); err == nil || !strings.HasPrefix(err.Error(), "true states: "+want) {
			t.Errorf("%.20q as true states: error %v, want %q", text, err, want)
		}
	}
}

// TestHealthyTextsAreNotForeign: a header may begin like a mark of another format, or with letters beyond ASCII.
func TestHealthyTextsAreNotForeign(t *testing.T) {
	for _, text := range []string{"BZh4,time\n1,2\n", "élan,time\n1,2\n", "PK,time\n1,2\n", "\u00fd,time\n1,2\n", "日,time\n1,2\n"} {
		for _, reader := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			if r, err := NewReader(reader, Options{}).Next(); err != nil || r.Time != 2 || r.Values[0] != 1 {
				t.Errorf("%q: %+v, %v", text, r, err)
			}
		}
	}
}

// TestEmptyMembers: as many empty members as there are count for nothing, wherever they stand, and so do zeros after the last one, as
// gzip reads them. What else follows is called what it is.
func TestEmptyMembers(t *testing.T) {
	const a, b = "time,x\n1,2\n", "2,3\n"
	none := strings.Repeat(packed(""), 300)
	for name, text := range map[string]string{
		"before": none + packed(a, b), "between": packed(a) + none + packed(b), "after": packed(a, b) + none, "zeros": packed(a, b) + strings.Repeat("\x00", 100_000),
		"BGZF": packed(a, b, ""), "zeros after an empty one": packed(a, b, "") + "\x00",
	} {
		records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(records) != 2 || len(faults) > 0 || records[1].Values[0] != 3 {
			t.Errorf("%s: %v, %v", name, records, faults)
		}
		if z, err := gzip.NewReader(strings.NewReader(text)); err != nil { // the same text by gzip's own reader, where it allows that
			t.Error(err)
		} else if whole, err := io.ReadAll(z); !strings.Contains(name, "zeros") && (err != nil || !bytes.Equal(whole, []byte(a+b))) {
			t.Errorf("%s: gzip reads %q, %v", name, whole, err)
		}
	}
	if records, faults := all(t, NewReader(strings.NewReader(none), Options{})); len(records)+len(faults) > 0 {
		t.Errorf("nothing but empty members: %v, %v", records, faults)
	}
	const after = "after the end of the compressed text comes "
	for text, want := range map[string]string{
		packed("") + a:                     after + `plain text, "time,x"`,
		none + a:                           after + `plain text, "time,x"`,
		packed(a) + `{"time":1}`:           after + `plain text, "{\"time\":1}"`,
		packed(a) + "\x00\x00x":            after + `plain text, "x"`,
		packed(a) + "\xfd7zXZ\x00\x00\x04": after + "a file packed with xz",
		packed(a) + "\x01\x02":             after + `bytes that are no gzip, which begin with "\x01\x02"`,
		packed(a) + packed(b)[:12]:         "gzip: the compressed text ends early: it was cut off",
		packed(a) + "\x1f":                 after + "bytes that are no gzip",
		packed(a) + "\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00": "the compressed text is damaged",
	} {
		s := NewReader(strings.NewReader(text), Options{})
		var err error
		for err == nil {
			_, err = s.Next()
		}
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}
