package data

import "fmt"

// FieldError is a fault of the settings that is found in the examples, such as a target column that the file lacks.
type FieldError struct {
	Field   string // relative to the settings, dotted, by names in YAML; empty: the fault is of an argument, not of the settings
	Message string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return "data." + e.Field + ": " + e.Message
}

// fieldError makes a FieldError.
func fieldError(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}
