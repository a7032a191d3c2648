package report

// healthy says whether the sampled networks can be taken for draws of the posterior, by the run's findings.
func (v *view) healthy() topic {
	t := topic{Title: "Is the posterior healthy?"}
	for _, f := range v.found {
		if !f.OfData() && !f.OfPredictions() {
			t.tell(f)
		}
	}
	if t.Text == nil && t.Warnings == nil && !v.run.Spec.Way().Needs().Posterior {
		t.say("Nothing was sampled: there is no sampler to diagnose.")
	}
	return t
}
