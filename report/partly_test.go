package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/starling-smc/starling/nn"
)

// Of a network whose particles share a part, pages count all parameters and say how many are random.
func TestPartlyRandom(t *testing.T) {
	whole, partly := shape{}.make(t), shape{name: "partly"}.make(t)
	net, err := nn.NewPartly([]int{3}, []nn.Layer{nn.Dense{Units: 400, Name: "a"}, nn.Tanh, nn.Dense{Units: 2}}, nn.Categorical{}, func(module string) nn.Role {
		return map[string]nn.Role{"a": nn.RoleLearned}[module]
	})
	if err != nil {
		t.Fatal(err)
	}
	partly.run.Net = net
	const size = "2,402 parameters, 802 of them random"
	v := partly.view(t)
	if lead := v.lead(); !strings.Contains(lead, "dense 400 → dense 2 with "+size+", ") {
		t.Error(lead)
	}
	if text := fmt.Sprint(v.learnt()); !strings.Contains(text, "A network of "+size+", learnt ") {
		t.Error(text)
	}
	if cards := fmt.Sprint(v.cards()); !strings.Contains(cards, "of "+size) {
		t.Error(cards)
	}
	c, err := NewComparison([]Evaluated{{"whole", whole.run, whole.a}, {"partly", partly.run, partly.a}})
	if err != nil {
		t.Fatal(err)
	}
	rows := fmt.Sprint(c.Rows())
	if !strings.Contains(rows, "[parameters 8 2,402] [of them random – 802] [networks 12 12]") {
		t.Error(rows)
	}
	c, err = NewComparison([]Evaluated{{"a", whole.run, whole.a}, {"b", whole.run, whole.a}})
	if err != nil || strings.Contains(fmt.Sprint(c.Rows()), "random") {
		t.Errorf("%v, %v", c.Rows(), err)
	}
}
