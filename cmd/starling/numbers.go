package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-smc/starling/uq"
)

// How the command writes numbers.

// percent writes a share of 1.
func percent(share uq.Number) string { return fmt.Sprintf("%.1f %%", 100*share) }

// significant writes a number of unknown size.
func significant(v uq.Number) string {
	return minus(strings.TrimSuffix(fmt.Sprintf("%#.4g", v), "."))
}

// minus replaces a hyphen by the sign.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// seconds writes a duration.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
