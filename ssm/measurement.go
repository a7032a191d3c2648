package ssm

import "fmt"

// refuse is the error of Bind that a measurement is none, and why. Its text counts measurements from 1.
func refuse(row int, format string, args ...any) error {
	return &MeasurementError{Row: row, Err: fmt.Errorf("measurement %d: %s", row+1, fmt.Sprintf(format, args...))}
}

// checkScan wants measurements of width finite numbers each. The error is a *MeasurementError.
func checkScan(scan *Scan, width int) error {
	if n := len(scan.Values); n > 0 && scan.Width != width {
		return refuse(0, "has length %d, want %d", scan.Width, width)
	} else if n%width != 0 {
		return refuse(n/width, "has length %d, want %d", n%width, width)
	}
	for i, v := range scan.Values {
		if !isFinite(v) {
			return refuse(i/width, "number %d is %v, want a finite number", i%width+1, v)
		}
	}
	return nil
}
