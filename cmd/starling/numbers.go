package main

import (
	"fmt"
	"time"

	"github.com/starling-smc/starling/internal/numeral"
	"github.com/starling-smc/starling/uq"
)

// How the command writes numbers.

// percent writes a share of 1.
func percent(share uq.Number) string { return numeral.Percent(float64(share), 1) }

// fixed writes v with a given number of decimals.
func fixed(v uq.Number, decimals int) string { return numeral.Fixed(float64(v), decimals) }

// significant writes a number of unknown size.
func significant(v uq.Number) string { return numeral.Significant(float64(v)) }

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
