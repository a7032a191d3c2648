package finding

// NotDecided says that a piece of the block decide was refused, and why, as in "sets: a rate of 0.99 needs …".
type NotDecided struct{ Why string }

func (f NotDecided) words() words {
	return words{
		look: warning | ofDecision, says: "not all of decide was learnt: " + f.Why,
		cure: "give other calibration examples, or change this piece of decide; starling calibrate learns it without a new fit", help: helpCalibration,
	}
}

// CalibrationScored says that data which taught a run to decide are evaluated on.
type CalibrationScored struct{ Data string }

func (f CalibrationScored) words() words {
	return words{
		look: warning | ofData, says: f.Data + " taught the run's decisions", means: "the scores of its sets and of its rule to abstain are too good on it",
		cure: "evaluate on other data", help: helpCalibration,
	}
}

// RiskNotKept says that no threshold keeps the risk that was asked for, so that every row abstains.
type RiskNotKept struct {
	Risk     float64
	Examples int
}

func (f RiskNotKept) words() words {
	return words{
		look: warning | ofDecision, says: say("every row abstains: no threshold keeps the error rate below %s", percent(f.Risk, 1)),
		means: say("the bound of 95 %% from %v calibration examples is above it even for the surest answers", f.Examples),
		cure:  "take a larger risk, more calibration examples, or another score to abstain by", help: helpCalibration,
	}
}
