package data

// ReadCalibration reads what decisions about the predictions of a run are learnt from, as inputs and targets of the run: labelled examples
// into Calibrate, as Schema.Read reads others, and groups of foreign inputs into Foreign, as ReadGroups does. They take the place of the
// problem's own. Without a name (empty) the problem's own stay, if it has any, and the groups are added. Of a known set of images
// these are its calibration examples. Errors are as those of Schema.Read.
func (p *Problem) ReadCalibration(name, labels, dir string, foreign ...string) error {
	switch {
	case name == "" && labels != "":
		return fieldError("", "the labels %s need a file of inputs", labels)
	case name != "":
		other, err := p.Schema.read(name, labels, dir, calibratePart, notCalibrated)
		if err != nil {
			return err
		}
		set := other.Test
		if other.Train != nil { // a known set of images, whose test examples are for tests
			set = other.Calibrate
		}
		if set == nil {
			return fieldError("", "%s has no calibration examples: name a file of labelled examples that the run has not seen", name)
		}
		p.Calibrate, p.Foreign = set, other.Foreign
		o := p.Schema.Outside()
		o.Add(set)
		p.Noted = append(append(p.Noted, other.Noted...), o.Findings(name)...)
	}
	return p.readGroups(&p.Foreign, dir, foreign)
}

// notCalibrated is the mend where labels are not those of the run.
const notCalibrated = "leave the examples of other classes out, or give their inputs alone as foreign ones, by --ood"
