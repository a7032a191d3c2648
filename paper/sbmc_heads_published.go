package paper

import (
	"math"
	"slices"

	"github.com/starling-smc/starling/uq"
)

// headPublished is a row of a table of Liang et al.: accuracy in percent with its standard error, NLL, and the mean entropies of predictions
// that are right, that are wrong, and of foreign inputs, in the order of imdbGroups.
type headPublished struct {
	cell             string
	accuracy         [2]float64
	nll              float64
	epistemic, total []float64
}

// imdbPublished are Tables 9 and 10. The printed ECE is left out: it cannot be an ECE (scalable-bayesian-monte-carlo, section 6).
var imdbPublished = []headPublished{
	{"imdb-v40-s10-smc-p1", [2]float64{86.70, .03}, .3655,
		[]float64{.0001122, .0001664, .0001792, .0002200, .0001749, .0003285, .0003212},
		[]float64{.4792, .6357, .5251, .5463, .5142, .6457, .6261}},
	{"imdb-v40-s10-smc-p8", [2]float64{86.69, .01}, .3653,
		[]float64{.0002531, .0003697, .0004744, .0004971, .0004862, .0005876, .0006105},
		[]float64{.4788, .6355, .5213, .5406, .5115, .6430, .6236}},
	{"imdb-v40-s10-hmc-p1", [2]float64{86.70, .01}, .3634,
		[]float64{.0002418, .0003565, .0004598, .0004633, .0004260, .0005057, .0005410},
		[]float64{.4750, .6340, .5165, .5331, .5079, .6400, .6186}},
	{"imdb-v40-s10-hmc-p8", [2]float64{86.72, .00}, .3633,
		[]float64{.0002766, .0004022, .0005694, .0006062, .0005637, .0007438, .0007051},
		[]float64{.4752, .6341, .5184, .5359, .5085, .6426, .6209}},
	{"imdb-v40-map", [2]float64{84.47, .09}, .3911,
		[]float64{0, 0, 0, 0, 0, 0, 0},
		[]float64{.4800, .6306, .5814, .6117, .5894, .6705, .6658}},
	{"imdb-v40-ensemble", [2]float64{84.76, .08}, .3888,
		[]float64{.0001005, .0001366, .00005064, .00005026, .00004909, .00006302, .00005548},
		[]float64{.4819, .6319, .5793, .6098, .5882, .6702, .6649}},
	{"imdb-v1-s35-smc-p1", [2]float64{88.27, .07}, .2803,
		[]float64{.0006177, .001460, .001581, .002495, .002187, .002279, .002504},
		[]float64{.2643, .5482, .3802, .5116, .5172, .5581, .5286}},
	{"imdb-v1-s35-smc-p8", [2]float64{88.88, .03}, .2714,
		[]float64{.009342, .02164, .03756, .05515, .05260, .06049, .06435},
		[]float64{.2744, .5596, .3987, .5555, .5304, .6025, .5920}},
	{"imdb-v1-s35-hmc-p1", [2]float64{88.81, .01}, .2750,
		[]float64{.01565, .03463, .05414, .07021, .06872, .08407, .07930},
		[]float64{.2890, .5681, .4289, .5583, .5556, .6133, .6120}},
	{"imdb-v1-s35-hmc-p8", [2]float64{88.93, .02}, .2737,
		[]float64{.01662, .03651, .05315, .07391, .06917, .09098, .08360},
		[]float64{.2893, .5683, .4188, .5626, .5386, .6156, .6088}},
	{"imdb-v1-s25-smc-p1", [2]float64{88.27, .10}, .2807,
		[]float64{.0002512, .0006069, .0004733, .0007166, .0008590, .0009313, .0009520},
		[]float64{.2673, .5500, .3562, .4872, .4727, .5548, .5609}},
	{"imdb-v1-s25-smc-p8", [2]float64{88.87, .03}, .2720,
		[]float64{.008124, .01872, .03066, .05057, .04691, .06403, .05777},
		[]float64{.2772, .5609, .3891, .5447, .5340, .6036, .5874}},
	{"imdb-v1-s25-hmc-p1", [2]float64{88.83, .02}, .2745,
		[]float64{.01269, .02830, .04522, .05927, .05886, .07342, .06803},
		[]float64{.2873, .5667, .4239, .5585, .5533, .6117, .6076}},
	{"imdb-v1-s25-hmc-p8", [2]float64{88.92, .02}, .2734,
		[]float64{.01337, .02964, .04442, .06215, .05863, .07869, .07108},
		[]float64{.2871, .5665, .4138, .5595, .5338, .6135, .6047}},
	{"imdb-v1-s10-smc-p1", [2]float64{88.54, .11}, .2762,
		[]float64{.0001820, .0004315, .0004819, .0005915, .0006766, .0007711, .0006500},
		[]float64{.2721, .5544, .3970, .5202, .5063, .5686, .5684}},
	{"imdb-v1-s10-smc-p8", [2]float64{88.92, .01}, .2711,
		[]float64{.004207, .009768, .02182, .03140, .02700, .03352, .03540},
		[]float64{.2752, .5588, .3920, .5407, .5143, .5959, .5865}},
	{"imdb-v1-s10-hmc-p1", [2]float64{88.86, .02}, .2726,
		[]float64{.005753, .01319, .02712, .03551, .03561, .05110, .04289},
		[]float64{.2802, .5618, .4088, .5505, .5384, .6066, .5975}},
	{"imdb-v1-s10-hmc-p8", [2]float64{88.93, .01}, .2721,
		[]float64{.006065, .01386, .02792, .03888, .03653, .05408, .04638},
		[]float64{.2801, .5613, .4028, .5510, .5231, .6081, .5961}},
	{"imdb-v1-map", [2]float64{87.97, .04}, .2854,
		[]float64{0, 0, 0, 0, 0, 0, 0},
		[]float64{.2721, .5531, .4071, .5598, .5462, .5695, .5561}},
	{"imdb-v1-ensemble", [2]float64{87.75, .02}, .2921,
		[]float64{.003144, .007055, .04514, .05054, .05386, .07963, .05318},
		[]float64{.2850, .5580, .4497, .5808, .5609, .6185, .6032}},
}

// cifar10Published is Table 11.
var cifar10Published = []headPublished{
	{"cifar10-s20-smc-p1", [2]float64{86.99, .08}, .4710, []float64{.0003682, .001947}, []float64{.1136, .5613}},
	{"cifar10-s20-smc-p8", [2]float64{90.30, .03}, .3217, []float64{.08362, .3326}, []float64{.1071, .5954}},
	{"cifar10-s20-hmc-p1", [2]float64{90.23, .08}, .2990, []float64{.1159, .4091}, []float64{.2676, .9231}},
	{"cifar10-s20-hmc-p8", [2]float64{90.82, .03}, .2810, []float64{.1405, .4604}, []float64{.2945, .9687}},
	{"cifar10-s10-smc-p1", [2]float64{88.26, .07}, .3855, []float64{.0002948, .001507}, []float64{.1309, .6364}},
	{"cifar10-s10-smc-p8", [2]float64{90.45, .06}, .2980, []float64{.05539, .2369}, []float64{.1217, .6453}},
	{"cifar10-s10-hmc-p1", [2]float64{90.57, .04}, .2823, []float64{.07055, .2795}, []float64{.2241, .8596}},
	{"cifar10-s10-hmc-p8", [2]float64{90.83, .03}, .2701, []float64{.1035, .3121}, []float64{.2367, .8884}},
	{"cifar10-s05-smc-p1", [2]float64{89.26, .07}, .3408, []float64{.0004258, .002273}, []float64{.1351, .6620}},
	{"cifar10-s05-smc-p8", [2]float64{90.63, .05}, .2881, []float64{.03507, .1584}, []float64{.1311, .6684}},
	{"cifar10-s05-hmc-p1", [2]float64{90.67, .03}, .2749, []float64{.04060, .1804}, []float64{.1917, .8073}},
	{"cifar10-s05-hmc-p8", [2]float64{90.84, .03}, .2677, []float64{.04579, .1966}, []float64{.1971, .8203}},
	{"cifar10-map", [2]float64{90.39, .07}, .2913, []float64{0, 0}, []float64{.1423, .7037}},
	{"cifar10-ensemble", [2]float64{90.81, .03}, .2741, []float64{.009291, .04753}, []float64{.1541, .7275}},
}

// languagePublished is Table 3: GPT-2, whose head has an update of rank 50, on tiny Shakespeare.
var languagePublished = []headPublished{
	{"gpt2-map", [2]float64{38.66, math.NaN()}, 3.166, []float64{0, 0}, []float64{1.554, 3.605}},
	{"gpt2-hmc", [2]float64{39.36, math.NaN()}, 3.083, []float64{.047, .077}, []float64{1.571, 3.612}},
}

// publishedOf are the figures of the row of a cell; nil: there is none.
func publishedOf(rows []headPublished, cell string) Figures {
	i := slices.IndexFunc(rows, func(p headPublished) bool { return p.cell == cell })
	if i < 0 {
		return nil
	}
	return rows[i].figures()
}

func (p *headPublished) figures() Figures {
	unknown := uq.Number(math.NaN())
	f := Figures{"accuracy": Mean{p.accuracy[0], uq.Number(p.accuracy[1])}, "nll": Mean{p.nll, unknown}}
	for i, group := range slices.Concat([]string{right, wrong}, imdbGroups)[:len(p.epistemic)] {
		f[epistemic+group], f[total+group] = Mean{p.epistemic[i], unknown}, Mean{p.total[i], unknown}
	}
	return f
}
