package report

// healthy says whether the networks that were sampled can pass for draws of the posterior: what the run found out about them.
func (v *view) healthy() topic {
	t := topic{Title: "Is the posterior healthy?"}
	for _, f := range v.run.Findings {
		if !f.OfData() {
			t.tell(f)
		}
	}
	if t.Text == nil && t.Warnings == nil && v.sampling == nil {
		t.say("Nothing was sampled: there is no sampler to diagnose.")
	}
	return t
}
