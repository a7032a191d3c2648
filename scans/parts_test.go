package scans

import (
	"reflect"
	"strings"
	"testing"

	"github.com/starling-smc/starling/ssm"
)

// TestParts: measurements that lack some of their numbers are kept by the numbers that are there, of each scan its own, and are counted
// as missing where a model takes whole ones alone. Then the checksum is that of a run which knew no parts.
func TestParts(t *testing.T) {
	for _, text := range []string{
		"time,x,y,z\n1,1,,3\n1,,5,\n1,7,8,9\n1,4,,6\n1,,,2\n1,,,\n2,,,1\n",
		`{"time":1,"measurements":[[1,null,3],[null,5,null],[7,8,9],[4,null,6],[null,null,2],null]}` + "\n" + `{"time":2,"measurements":[[null,null,1]]}`,
	} {
		records, faults := all(t, NewReader(strings.NewReader(text), Options{}))
		if len(faults) > 0 || len(records) != 2 {
			t.Fatalf("%q: %v, %v", text, records, faults)
		}
		want := []ssm.Part{{Columns: []int{0, 2}, Values: []float64{1, 3, 4, 6}}, {Columns: []int{1}, Values: []float64{5}}, {Columns: []int{2}, Values: []float64{2}}}
		r := records[0]
		if !reflect.DeepEqual(r.Parts, want) || r.Partial() != 4 || r.Measured() != 5 || r.Missing != 1 || r.Len() != 1 {
			t.Errorf("%+v", r)
		}
		if !reflect.DeepEqual(records[1].Parts, []ssm.Part{{Columns: []int{2}, Values: []float64{1}}}) || records[1].Width != 3 {
			t.Errorf("%+v", records[1])
		}
		with := r.Sum([32]byte{})
		r.Parts[0].Values[0] = 1.5
		if r.Sum([32]byte{}) == with {
			t.Error("the checksum does not see a part")
		}
		r.LeaveOutParts()
		old := Record{Scan: ssm.Scan{Time: 1, Width: 3, Values: []float64{7, 8, 9}, Missing: 5}, Text: "1"}
		if r.Missing != 5 || r.Unused != 4 || r.Partial() != 0 || r.Sum([32]byte{}) != old.Sum([32]byte{}) || r.Sum([32]byte{}) == with {
			t.Errorf("%+v", r)
		}
	}
	if _, faults := all(t, NewReader(strings.NewReader(`{"time":1,"measurements":[[1,null],[null]]}`), Options{})); len(faults) != 1 || !strings.Contains(faults[0], "measurement 2 has the length 1") {
		t.Errorf("%q", faults)
	}
}
