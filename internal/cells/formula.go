package cells

// Formula reports whether a spreadsheet takes a cell of a CSV for a formula: it begins with =, +, - or @, or with a tab or a
// carriage return, which spreadsheets skip, and is no number. A formula in a file from elsewhere may do harm.
func Formula(cell string) bool {
	if cell == "" {
		return false
	}
	switch cell[0] {
	case '\t', '\r':
		return true
	case '=', '+', '-', '@':
		_, err := Number([]byte(cell))
		return err != nil
	}
	return false
}
