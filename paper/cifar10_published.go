package paper

import (
	"fmt"
	"strings"

	"github.com/starling-smc/starling/uq"
)

// cifarPublished are Tables 1, 3, 5 and 6 of Millard et al., by the data and then by the method: accuracy in percent, NLL and ECE, each with
// its standard deviation. STL-10 is predicted by networks of CIFAR-10, which are VGG16 there. Table 1 prints .73 for the deviation of the NLL of
// the deep ensemble on CIFAR-10, which must be .0073.
var cifarPublished = map[string]map[string]Figures{
	"cifar10": {
		"smc": printedBy(91.18, .32, .3086, .0072, .0499, .0017).with(5, 90.53, .48, .3439, .0166, .0542, .0025).
			with(10, 90.84, .30, .3257, .0084, .0521, .0025).with(20, 91.11, .29, .3133, .0082, .0506, .0015).with(30, 91.09, .31, .3132, .0077, .0506, .0017).Figures,
		"sgd":      printedBy(90.71, .30, .4285, .0082, .0657, .0019).Figures,
		"ensemble": printedBy(93.69, .13, .2537, .0073, .0544, .0011).Figures,
		"swag-diagonal": printedBy(90.73, .36, .4216, .0081, .0649, .0016).with(5, 90.71, .34, .4218, .0076, .0645, .0015).
			with(10, 90.73, .34, .4215, .0084, .0647, .0014).with(20, 90.74, .35, .4216, .0083, .0646, .0017).with(30, 90.74, .34, .4215, .0081, .0644, .0017).Figures,
		"swag": printedBy(90.73, .30, .4256, .0081, .0653, .0015).with(5, 90.72, .30, .4269, .0087, .0654, .0019).
			with(10, 90.72, .30, .4258, .0098, .0652, .0018).with(20, 90.70, .28, .4260, .0069, .0649, .0017).with(30, 90.70, .31, .4255, .0078, .0652, .0015).Figures,
		"untempered": printedBy(88.57, .52, .4396, .0141, .0698, .0016).Figures,
	},
	"cifar100": {
		"smc": printedBy(71.29, .27, 1.2124, .0163, .1001, .0046).with(5, 70.31, .70, 1.2804, .0536, .1089, .0095).
			with(10, 70.80, .25, 1.2439, .0190, .1033, .0064).with(20, 71.25, .18, 1.2100, .0125, .0987, .0029).with(30, 71.04, .28, 1.2237, .0222, .1007, .0077).Figures,
		"sgd":      printedBy(71.58, .39, 1.7668, .0248, .1953, .0018).Figures,
		"ensemble": printedBy(76.34, .22, 1.1692, .0091, .1411, .0014).Figures,
		"swag-diagonal": printedBy(71.52, .23, 1.7470, .0428, .1935, .0038).with(5, 71.54, .28, 1.7474, .0415, .1938, .0040).
			with(10, 71.54, .28, 1.7476, .0428, .1933, .0042).with(20, 71.54, .27, 1.7474, .0421, .1934, .0038).with(30, 71.52, .27, 1.7475, .0418, .1936, .0036).Figures,
		"swag": printedBy(71.65, .35, 1.7245, .0504, .1920, .0043).with(5, 71.58, .38, 1.7293, .0564, .1924, .0042).
			with(10, 71.58, .26, 1.7413, .0276, .1934, .0023).with(20, 71.63, .45, 1.7244, .0665, .1913, .0063).with(30, 71.62, .38, 1.7298, .0487, .1921, .0041).Figures,
		"untempered": printedBy(67.62, .38, 1.4997, .0464, .1359, .0088).Figures,
	},
	"stl10": {
		"smc":           printedBy(71.13, .63, .9136, .0267, .0745, .0101).Figures,
		"sgd":           printedBy(71.83, .36, 1.7851, .0245, .2388, .0039).Figures,
		"ensemble":      printedBy(73.74, .35, 1.4443, .0151, .2077, .0031).Figures,
		"swag-diagonal": printedBy(71.78, .34, 1.7347, .0206, .2369, .0033).Figures,
		"swag":          printedBy(71.85, .26, 1.7275, .0181, .2354, .0024).Figures,
	},
}

// printedRow are published figures in the making.
type printedRow struct{ Figures }

func printedBy(accuracy, accuracySD, nll, nllSD, ece, eceSD float64) printedRow {
	return printedRow{Figures{}}.add("", accuracy, accuracySD, nll, nllSD, ece, eceSD)
}

// with adds those of m members (Table 5).
func (r printedRow) with(m int, accuracy, accuracySD, nll, nllSD, ece, eceSD float64) printedRow {
	return r.add(fmt.Sprintf("members%d_", m), accuracy, accuracySD, nll, nllSD, ece, eceSD)
}

func (r printedRow) add(prefix string, values ...float64) printedRow {
	for k, name := range scored {
		r.Figures[prefix+name] = Mean{values[2*k], uq.Number(values[2*k+1])}
	}
	return r
}

// cifarNotRun are the rows of the paper's tables that nobody can run here.
func cifarNotRun() (cells []Cell) {
	for _, set := range []struct{ name, why string }{
		{"cifar100", "VGG16 on CIFAR-100 takes 250 hours of two cores, and the images are not here"},
		{"stl10", "its networks are VGG16 on CIFAR-10, 250 hours of two cores, and the images are not here"},
	} {
		for _, method := range []string{"smc", "sgd", "ensemble", "swag-diagonal", "swag", "untempered"} {
			if p := cifarPublished[set.name][method]; p != nil {
				cells = append(cells, Cell{Name: strings.Join([]string{set.name, method}, "-"), NotRun: set.why, Published: p})
			}
		}
	}
	return cells
}
