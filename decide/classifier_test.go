package decide

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/starling-smc/starling/nn"
	"github.com/starling-smc/starling/uq"
)

// learn draws examples whose chance to be wrong depends on the first two features: that of a logistic rule.
func learn(k, n int) (l Learn, chance []float64) {
	s := random(700 + k)
	for i := range 2 * n {
		x := make([]float64, Features)
		for j := range 4 {
			x[j] = s.Normal()*float64(j+1) + 3
		}
		p := 1 / (1 + math.Exp(-2*(x[0]-3)+(x[1]-3)))
		if i < n {
			l.Features, l.Labels = append(l.Features, x...), append(l.Labels, int32(i%5))
			l.Wrong, chance = append(l.Wrong, s.Float64() < p), append(chance, p)
		} else {
			x[0] += 4
			l.Foreign = append(l.Foreign, x...)
		}
	}
	return l, chance
}

// TestClassifier: the network finds fresh wrong answers nearly as well as the rule that drew them, for any number of threads with the same bits.
func TestClassifier(t *testing.T) {
	ctx := context.Background()
	l, _ := learn(0, 600)
	w, err := l.Train(ctx, 1, nn.NewPool(1))
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Train(ctx, 1, nn.NewPool(3))
	if err != nil || !slices.Equal(w.Theta, again.Theta) {
		t.Errorf("three threads give another network: %v", err)
	}
	if other, err := l.Train(ctx, 2, nil); err != nil || slices.Equal(w.Theta, other.Theta) {
		t.Errorf("another seed gives the same network: %v", err)
	}
	if !(w.Mean[4] == 0 && w.SD[4] == 1 && w.SD[6] == 1) {
		t.Errorf("features that are 0 have mean %v, sd %v", w.Mean[4:], w.SD[4:])
	}
	fresh, chance := learn(1, 2000)
	p, err := w.Wrong(ctx, fresh.Features, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, best := AUC(Examples{Doubts: p, Wrong: fresh.Wrong}), AUC(Examples{Doubts: chance, Wrong: fresh.Wrong})
	t.Logf("AUC %.4f, that of the truth %.4f; %d epochs", got, best, w.Epochs)
	if !(got > best-0.02) {
		t.Errorf("the AUC is %v, that of the truth %v", got, best)
	}
	x := slices.Clone(fresh.Features[:14])
	x[9] = math.NaN()
	if p2, err := w.Wrong(ctx, x, nil); err != nil || p2[0] != p[0] || !math.IsNaN(p2[1]) {
		t.Errorf("beside a row that is NaN: %v, %v; want %v", p2, err, p[0])
	}
	if p, err := w.Wrong(ctx, nil, nil); err != nil || len(p) != 0 {
		t.Errorf("of no rows: %v, %v", p, err)
	}
	if _, err := w.Wrong(ctx, x[:13], nil); err == nil {
		t.Error("13 features are taken")
	}
}

// TestClassifierDoesNotSeeWhatIsHeldOut: labels of held-out examples stop the training, but move no step.
func TestClassifierDoesNotSeeWhatIsHeldOut(t *testing.T) {
	z := make([]bool, 1000)
	for i := range z {
		z[i] = i%10 == 0
	}
	held := HoldOut(z, 5)
	wrong, right := 0, 0
	for i, h := range held {
		if h && z[i] {
			wrong++
		} else if h {
			right++
		}
	}
	if wrong != 20 || right != 180 {
		t.Errorf("%d and %d are held out, want 20 and 180", wrong, right)
	}
	if slices.Equal(held, HoldOut(z, 6)) {
		t.Error("another seed holds out the same examples")
	}
	l, _ := learn(2, 200)
	w, err := l.Train(context.Background(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range HoldOut(l.all(), 1) {
		if h && i < len(l.Labels) {
			l.Features[i*Features+2] = 1e3
		}
	}
	after, err := l.Train(context.Background(), 1, nil)
	if err != nil || !slices.Equal(w.Mean, after.Mean) || !slices.Equal(w.SD, after.SD) {
		t.Errorf("held-out examples change the standardisation: %v", err)
	}
}

func TestThird(t *testing.T) {
	third := Third(1000, 4)
	if count(third) != 333 || slices.Equal(third, Third(1000, 5)) || !slices.Equal(third, Third(1000, 4)) || count(Third(2, 1)) != 0 {
		t.Errorf("%d of 1000 are drawn", count(third))
	}
}

func TestClassifierRefuses(t *testing.T) {
	change := func(f func(*Learn)) error {
		l, _ := learn(3, 40)
		f(&l)
		_, err := l.Train(context.Background(), 1, nil)
		return err
	}
	for what, f := range map[string]func(*Learn){
		"a single class":     func(l *Learn) { l.Labels = make([]int32, 40) },
		"no wrong answer":    func(l *Learn) { l.Wrong = make([]bool, 40) },
		"no foreign input":   func(l *Learn) { l.Foreign = nil },
		"no example":         func(l *Learn) { *l = Learn{} },
		"six features":       func(l *Learn) { l.Features = l.Features[:240] },
		"half a foreign row": func(l *Learn) { l.Foreign = l.Foreign[:10] },
		"NaN alone": func(l *Learn) {
			for i := range l.Features {
				l.Features[i] = math.NaN()
			}
			l.Foreign = slices.Repeat([]float64{math.NaN()}, 70)
		},
	} {
		if err := change(f); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	var need *NeedError
	if err := change(func(l *Learn) {
		for i := range l.Wrong {
			l.Wrong[i] = i > 2
		}
	}); !errors.As(err, &need) || need.Need != 42 {
		t.Errorf("three right answers: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	l, _ := learn(3, 40)
	if _, err := l.Train(stopped, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done gives %v", err)
	}
}

// TestFeaturesOfOneNetwork (check 6): the first and the third are one, the last three 0; they standardise to 0.
func TestFeaturesOfOneNetwork(t *testing.T) {
	probs, _ := sample(random(720), 50, 4)
	probs = append(probs, 1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25)
	x := FeaturesOf(network(probs, 4))
	if len(x) != 52*Features {
		t.Fatalf("%d features", len(x))
	}
	for i := range 52 {
		row := x[i*Features:][:Features]
		p := slices.Sorted(slices.Values(probs[4*i : 4*i+4]))
		if row[0] != p[3] || row[2] != row[0] || row[3] != p[3]-p[2] || row[4] != 0 || row[5] != 0 || row[6] != 0 {
			t.Errorf("row %d of %v has features %v", i, p, row)
		}
		within(t, "entropy", row[1], uq.Entropy(p), 1e-14)
	}
	var w Network
	w.standardise(x)
	for i, v := range w.inputs(x) {
		if k := i % Features; k > 3 && v != 0 {
			t.Errorf("feature %d standardises to %v", k, v)
		}
	}
}
