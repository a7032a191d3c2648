package finding

// CalibrationUnknown says that nobody can tell whether the calibration examples have trained, since the run's own data cannot be read, and why.
type CalibrationUnknown struct{ Why string }

func (f CalibrationUnknown) words() words {
	return words{
		look: note | ofDecision, says: say("whether calibration examples have trained, too, is not known: %s", f.Why),
		cure: "put the run's data back, and calibrate again", help: helpCalibration,
	}
}
