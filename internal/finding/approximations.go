package finding

// Findings about Gaussians that stand for the posterior, and about the states that are taken for it.

// ELBOUnsettled says that the ELBO of VI still rose or fell by so many nats, from the third quarter of its epochs to the last.
func ELBOUnsettled(rise, se float64, epochs int) Finding {
	f := Finding{Kind: "elbo-unsettled", Names: map[string]string{"way": "rose"}}
	if !(rise > 0) {
		rise, f.Names["way"] = -rise, "fell"
	}
	f.Numbers = numbers{"by": rise, "se": se, "epochs": float64(epochs), "twice": float64(2 * epochs)}.safe()
	return f
}

// The widths of SWAG's draws, as multiples of that of the posterior, between which they count as of the same size.
const narrowest, widest = 0.5, 2

// SWAGSpread says what the spread of SWAG's draws is: width times that of the posterior around their mean.
func SWAGSpread(width float64) Finding {
	f := Finding{Kind: "swag-spread", Numbers: numbers{"width": width}.safe()}
	switch {
	case width < narrowest:
		f.Kind = "swag-narrow"
	case !(width <= widest):
		f.Kind = "swag-wide"
	}
	return f
}

// ChosenByValidation says that the setting of this name and value takes the state of lowest validation NLL for the posterior.
func ChosenByValidation(field, value string) Finding {
	return Finding{Kind: "chosen-by-validation", Names: map[string]string{"field": field, "value": value}}
}
