//go:build !linux && !darwin

package regular

import (
	"errors"
	"os"
)

// Maps says whether the system maps files.
const Maps = false

const scattered, expected, unneeded = 0, 1, 2

func mapped(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

func advise([]byte, int) {}

func (*Mapping) has(uintptr) bool { return false }
