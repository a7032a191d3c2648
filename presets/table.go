package presets

import (
	"bytes"
	"text/template"
)

// Table says what fills in the config of a table that nobody wrote a config for. Strings are YAML.
type Table struct {
	Name, File, Target string
	Rows, Inputs       int
	Classes            int    // 0: the target is a number
	Why                string // it is taken for a class
	Missing, OneHot    string // columns, as a sentence lists them; empty: none
	Counted            string // columns, as a list of YAML without brackets

	Hidden, Outputs, Chains, Epochs, Keep, Batch int
	Activation, Likelihood                       string
}

// Config writes the config, commented.
func (t Table) Config() []byte {
	var b bytes.Buffer
	text, err := template.ParseFS(files, "table/table.yaml")
	if err == nil {
		err = text.Execute(&b, t)
	}
	if err != nil {
		panic(err) // the template is a constant, and a test fills it in
	}
	return b.Bytes()
}
