package packed

import "bytes"

// Wide says that a text that begins like this is UTF-16 or UTF-32, and what to do with it: it has the mark of one, or its first characters
// are of ASCII. what is empty for other texts.
func Wide(head []byte) (what, remedy string) {
	switch {
	case utf32(head):
		what = "UTF-32"
	case utf16(head):
		what = "UTF-16"
	default:
		return "", ""
	}
	return what, "save it as UTF-8 (iconv -f " + what + " -t UTF-8 FILE)"
}

func utf16(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	if len(head) < 4 {
		return false
	}
	return head[0] == 0 && head[2] == 0 && isASCII(head[1]) && isASCII(head[3]) || head[1] == 0 && head[3] == 0 && isASCII(head[0]) && isASCII(head[2])
}

func utf32(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	first, last := head[:4], [...]byte{head[3], head[2], head[1], head[0]}
	return lowFirst(first) || lowFirst(last[:])
}

// lowFirst reports whether four bytes, the lowest first, are the mark of UTF-32 or a character of ASCII.
func lowFirst(b []byte) bool {
	return b[2] == 0 && b[3] == 0 && (b[0] == 0xff && b[1] == 0xfe || isASCII(b[0]) && b[1] == 0)
}

// isASCII reports whether a byte is a character of a text in ASCII.
func isASCII(b byte) bool { return b >= ' ' && b <= '~' || b == '\t' || b == '\n' || b == '\r' }
