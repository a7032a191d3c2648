package packed

// AsUTF8 is what to do with a text in UTF-16.
const AsUTF8 = "save it as UTF-8 (iconv -f UTF-16 -t UTF-8 FILE)"

// UTF16 reports whether a text that begins like this is UTF-16: it has its mark, or every other one of its first four bytes is 0.
func UTF16(head []byte) bool {
	if len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff) {
		return true
	}
	if len(head) < 4 {
		return false
	}
	even, odd := head[0] == 0 && head[2] == 0, head[1] == 0 && head[3] == 0
	return even != odd && (even || head[0] != 0 && head[2] != 0) && (odd || head[1] != 0 && head[3] != 0)
}
