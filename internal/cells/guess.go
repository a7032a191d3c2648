package cells

import "bytes"

// GuessBytes is how much of a text GuessDelimiter sees.
const GuessBytes = 1 << 20

// Separator returns the delimiter that the first line names, as Excel reads it: sep=; for example. It is 0 if the line names none.
func Separator(head []byte) byte {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.Trim(bytes.TrimRight(line, "\r"), `"`)
	if len(line) == 5 && bytes.EqualFold(line[:4], []byte("sep=")) && !IsNumberByte(line[4]) && line[4] < 0x80 {
		return line[4]
	}
	return 0
}

// GuessDelimiter returns the first candidate that cuts the first records into the same number of cells, at least two;
// else the candidate that cuts the first record into most cells, so that the error that follows is about a plausible table.
// cut says that the text goes on after head.
func GuessDelimiter(head []byte, cut bool) string {
	const look = 16
	best, most := ",", 1
	for _, d := range [...]string{"\t", ";", ",", "whitespace"} {
		c := NewReader(nil, d, GuessBytes, 0)
		c.raw = head
		rec, _, err := c.Record()
		n := len(rec)
		even := err == nil && n > 1
		for i := 1; even && i < look; i++ {
			rec, ok, err := c.Record()
			if !ok && err == nil || cut && c.pos == len(head) {
				break
			}
			even = err == nil && len(rec) == n
		}
		if even {
			return d
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}
