package packed

// AsUTF8 is what to do with a text in UTF-16.
const AsUTF8 = "save it as UTF-8 (iconv -f UTF-16 -t UTF-8 FILE)"

// UTF16 reports whether a text that begins like this is UTF-16: it has its mark, or its first two characters are of ASCII.
func UTF16(head []byte) bool {
	if len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff) {
		return true
	}
	if len(head) < 4 {
		return false
	}
	text := func(b byte) bool { return b >= ' ' && b <= '~' || b == '\t' || b == '\n' || b == '\r' }
	return head[0] == 0 && head[2] == 0 && text(head[1]) && text(head[3]) || head[1] == 0 && head[3] == 0 && text(head[0]) && text(head[2])
}
