package data

import (
	"slices"
	"strings"
	"testing"
)

// TestHeaderOfARun: the first record of a file that is read for a run is its header if it names a column of the run, also if another
// name is a number, unless the settings say otherwise. A record of numbers, or without a name of the run's, is judged as before.
func TestHeaderOfARun(t *testing.T) {
	text := "c1,c2,y\n" + strings.Repeat("p,q,1\nr,s,2\n", 10)
	run := leave(t, text, CSV{Target: "y", Words: true}, Columns{Target: "y", Classes: true})
	for _, file := range []string{"c2,c1,2024\nq,p,1\ns,r,1\n", "2024,c1,c2\n1,p,q\n1,r,s\n", "c1,c2,\np,q,\nr,s,\n", "p,q,1\nr,s,2\n"} {
		tab, err := DecodeCSV("g", []byte(file), run.CSVToPredict(""))
		if err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		if set, err := run.Set("g", tab, nil, false); err != nil || !slices.Equal(set.F32, []float32{1, 0, 1, 0, 0, 1, 0, 1}) {
			t.Errorf("%q: %+v, %v", file, set, err)
		}
	}
	numbers := leave(t, "0,1,y\n5,6,a\n7,9,b\n", CSV{Target: "y", Header: &yes}, Columns{Target: "y", Classes: true})
	numbers.Header = nil // as of a Parquet file, whose columns may have numbers for names
	tab, err := DecodeCSV("g", []byte("1,0\n1,6\n"), numbers.CSVToPredict(""))
	if err != nil || tab.Rows() != 2 || tab.Header != nil {
		t.Errorf("a record of numbers: %+v, %v", tab, err)
	}
}

// TestOneColumnWithBlanks: a file of one column is not cut at the blanks in its name if the run has a column of that name, with a
// byte-order mark and quotes or without; a file that is cut at blanks stays so.
func TestOneColumnWithBlanks(t *testing.T) {
	run := leave(t, "city name,y\nnew york,1\nsan jose,2\nnew york,1\n", CSV{Target: "y", Words: true}, Columns{Target: "y", Classes: true})
	for _, file := range []string{"city name\nnew york\nsan jose\n", "\ufeffcity name\nnew york\nsan jose", "\"city name\"\n\"new york\"\nsan jose\n", "city name\ty\nnew york\t1\nsan jose\t2\n"} {
		tab, err := DecodeCSV("g", []byte(file), run.CSVToPredict(""))
		if err != nil {
			t.Errorf("%q: %v", file, err)
			continue
		}
		if set, err := run.Set("g", tab, nil, false); err != nil || !slices.Equal(set.F32, []float32{1, 0, 0, 1}) {
			t.Errorf("%q: %+v, %v", file, set, err)
		}
	}
	two := leave(t, "a,b,y\n1,2,1\n3,4,2\n", CSV{Target: "y"}, Columns{Target: "y", Classes: true})
	if tab, err := DecodeCSV("g", []byte("a b\n1 2\n"), two.CSVToPredict("")); err != nil || tab.Cols != 2 {
		t.Errorf("cut at blanks: %+v, %v", tab, err)
	}
}
