package data

import "errors"

// ScanCSV reads a file in blocks of at most rows records, in bounded memory, and calls fn with each block; an error of
// fn ends it. Blocks are as parts of the table that ReadCSV returns: same header, names, lines and errors.
func ScanCSV(path string, o CSV, rows int, fn func(*Table) error) error { return errors.New("not yet") }
