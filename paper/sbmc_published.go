package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/starling-smc/starling/uq"
)

// printedTable is a part of the paper's tables: the names of measures, "±" for the standard error of the one before, and a line for each cell.
// "-" is not printed.
type printedTable struct{ tables, columns, cells string }

// sbmcPrinted are Tables 1, 4, 7, 8, 12, 15, 16 and 21 to 23 of Liang et al. What an earlier table prints with fewer digits, a later one replaces; it
// keeps the earlier one's standard error where it prints none. Tables 15 and 16 stand for P = 2 and 4 and for the gold standards alone: P = 1
// and 8 are those of Table 8, for which noise was drawn anew.
var sbmcPrinted = []printedTable{
	{"1", "accuracy ± nll ± epistemic_right ± epistemic_wrong ± epistemic_foreign ±", `
mnist7-map-one      92.3 .366 .253 .012 0    -    0    -    0    -
mnist7-swa          92.3 .387 .27  .017 0    -    0    -    0    -
mnist7-dropout      93.9 .626 .214 .021 .049 .007 .269 .008 .267 .01
mnist7-ensemble     92.4 .150 .245 .004 .011 .000 .057 .001 .123 .011
mnist7-ensemble-80  92.5 .059 .239 .001 .011 .000 .059 .001 .134 .004
mnist7-sghmc        87.7 .742 .974 .05  .652 .031 .725 .031 .883 .036
mnist7-s10-sghmc-p1 90.3 .758 .409 .014 .342 .015 .687 .027 .836 .039
mnist7-s10-sghmc-p8 92.3 .160 .388 .001 .434 .005 .782 .007 .965 .003
mnist7-s1-smc-p1    79.7 2.71 .623 .091 .013 .002 .033 .009 .045 .011
mnist7-s10-smc-p1   92.2 .371 .267 .014 .026 .003 .129 .014 .202 .028
mnist7-s10-smc-p8   93.3 .160 .226 .004 .059 .001 .272 .003 .378 .03
mnist7-s1-hmc-p1    78.4 2.38 1.27 .085 .303 .025 .325 .026 .594 .021
mnist7-s10-hmc-p1   93.0 .166 .232 .002 .056 .001 .264 .002 .463 .009
mnist7-s10-hmc-p8   93.1 .085 .231 .002 .070 .000 .299 .002 .531 .011
mnist7-gold-2e4     93.6 .415 .222 .009 .096 .004 .410 .013 .768 .084
mnist7-gold-2e5     94.8 .211 1.94 .004 .120 .004 .493 .008 1.04 .122
`},
	{"8", "accuracy ± nll brier epistemic_right epistemic_wrong epistemic_eight epistemic_nine epistemic_noise epistemic_perturbed " +
		"total_right total_wrong total_eight total_nine total_noise total_perturbed", `
mnist7-gold-2e4    93.61 .41  .2224 .1015  .09621 .4097  .4614  .3119  1.126  .7919  .2621 .9652 1.110 .8198 1.492 1.081
mnist7-gold-2e5    94.77 .21  .1942 .08700 .1204  .4928  .5635  .4067  1.602  1.031  .2852 1.033 1.204 .9322 1.915 1.296
mnist7-gold-18e5   95.13 .02  .1882 .08345 .1281  .5185  .5856  .4244  1.682  1.112  .2948 1.057 1.223 .9532 2.012 1.384
mnist7-s1-smc-p1   79.74 2.71 .6230 .2920  .01337 .03339 .03321 .02775 .06482 .05512 .5506 1.078 1.138 .9851 .6426 .9171
mnist7-s1-hmc-p1   78.41 2.39 1.273 .5799  .3026  .3247  .3173  .2988  .6626  1.099  1.854 1.962 1.988 1.927 1.965 1.844
mnist7-s50-smc-p1  84.18 .64  .4827 .2304  .01556 .04082 .04000 .03234 .1238  .06418 .4363 1.019 1.127 .9294 .8128 .8712
mnist7-s50-hmc-p1  85.26 1.06 .8234 .3672  .2993  .3704  .3627  .3271  .8832  .8030  1.427 1.752 1.837 1.667 1.857 1.694
mnist7-s25-smc-p1  90.35 .26  .3300 .1441  .02257 .1094  .1146  .07791 .3888  .1996  .1508 .6679 .8384 .5945 .8495 .7445
mnist7-s25-smc-p8  93.00 .11  .2366 .1096  .08828 .3717  .2984  .2089  .7488  .4585  .1247 .6641 1.000 .7354 1.177 .9931
mnist7-s25-hmc-p1  92.79 .19  .2571 .1156  .1133  .4232  .4985  .3225  1.289  .6280  .3149 1.026 1.220 .8606 1.624 1.019
mnist7-s25-hmc-p8  93.15 .05  .2490 .1127  .1384  .4788  .5572  .3678  1.349  .7311  .3456 1.070 1.267 .9025 1.714 1.111
mnist7-s10-smc-p1  92.17 .37  .2671 .1186  .02642 .1288  .1384  .09406 .3943  .1832  .1536 .7042 .8975 .6591 .9743 .8001
mnist7-s10-smc-p8  93.26 .16  .2259 .1025  .05871 .2725  .2440  .1637  .7238  .3823  .1374 .7075 1.001 .7307 1.216 .9805
mnist7-s10-hmc-p1  92.96 .17  .2326 .1071  .05624 .2645  .3072  .1941  .9304  .4216  .2343 .9132 1.091 .7567 1.452 .8443
mnist7-s10-hmc-p8  93.12 .08  .2310 .1072  .06982 .2993  .3524  .2258  1.067  .4780  .2553 .9380 1.127 .7893 1.543 .8937
mnist7-s01-smc-p1  92.57 .37  .2439 .1121  .01149 .05904 .06445 .04602 .2187  .1008  .1737 .7571 .9632 .6607 .9254 .8511
mnist7-s01-hmc-p1  92.95 .10  .2289 .1069  .01912 .1015  .1238  .07814 .4678  .1945  .1995 .8232 1.003 .6991 1.234 .6726
mnist7-map-one     92.32 .37  .2527 .1163  0      0      0      0      0      0      .1833 .7645 .9507 .6157 .7682 .7839
mnist7-ensemble    92.40 .15  .2455 .1148  .01059 .05646 .07433 .03468 .2690  .11056 .1919 .7899 .9821 .6393 .9806 .8112
mnist7-ensemble-80 92.54 .06  .2393 .1124  .01111 .05980 .07846 .04016 .2935  .1188  .1938 .7988 1.001 .6532 1.067 .8133
`},
	{"15, 16", "accuracy ± nll brier epistemic_right epistemic_wrong epistemic_eight epistemic_nine epistemic_noise epistemic_perturbed " +
		"total_right total_wrong total_eight total_nine total_noise total_perturbed", `
mnist7-s25-smc-p2   92.00 .24 .2726 .1239 .05445 .2442 .1975 .1402 .5073 .2923 .1371 .6768 .9108 .6629 .9559 .8111
mnist7-s25-hmc-p2   92.97 .14 .2536 .1140 .1298  .4568 .5380 .3638 1.321 .6720 .3358 1.050 1.250 .8975 1.680 1.050
mnist7-s25-smc-p4   92.59 .15 .2504 .1152 .07492 .3240 .2544 .1797 .6264 .3749 .1287 .6669 .9591 .7064 1.051 .8923
mnist7-s25-hmc-p4   93.13 .07 .2506 .1133 .1356  .4718 .5508 .3634 1.327 .7084 .3443 1.065 1.261 .9031 1.689 1.078
mnist7-s25-gold-2e4 92.87 .48 .2376 .1079 .07199 .3432 .3887 .2748 1.169 .5579 .2045 .8566 .9984 .7425 1.574 .8725
mnist7-s10-smc-p2   92.52 .30 .2507 .1127 .04233 .2042 .1836 .1227 .5306 .2620 .1449 .7053 .9422 .6870 1.058 .8577
mnist7-s10-hmc-p2   93.10 .12 .2310 .1067 .06494 .2844 .3395 .2198 .9977 .4432 .2472 .9223 1.112 .7769 1.506 .8436
mnist7-s10-smc-p4   93.01 .29 .2369 .1069 .05315 .2471 .2200 .1465 .6363 .3288 .1403 .7019 .9791 .7130 1.126 .9159
mnist7-s10-hmc-p4   93.12 .09 .2306 .1069 .06733 .2924 .3479 .2179 1.010 .4740 .2520 .9300 1.119 .7823 1.493 .8866
mnist7-s10-gold-2e4 92.92 .41 .2366 .1084 .05034 .2417 .2713 .1900 .9303 .3683 .2076 .8477 1.001 .7264 1.430 .7518
`},
	{"12", "total_digit0 total_digit1 total_digit2 total_digit3 total_digit4 total_digit5 total_digit6 total_digit7 total_all", `
mnist7-map-one    .1276 .1768 .2294 .3168 .2158 .3993 .1856 .1897 .2301
mnist7-ensemble   .1307 .1840 .2266 .3493 .2221 .4058 .2045 .1957 .2398
mnist7-s10-hmc-p1 .1671 .1889 .2980 .3883 .2753 .4395 .2836 .2403 .2821
mnist7-s10-smc-p1 .1110 .1408 .2090 .2686 .1981 .3056 .1856 .1693 .1966
mnist7-gold-2e4   .2157 .2124 .3410 .4229 .2925 .4428 .2968 .2528 1.021
`},
	{"12", "aleatoric_digit0 aleatoric_digit1 aleatoric_digit2 aleatoric_digit3 aleatoric_digit4 aleatoric_digit5 aleatoric_digit6 " +
		"aleatoric_digit7 aleatoric_eight aleatoric_nine aleatoric_perturbed aleatoric_noise aleatoric_all", `
mnist7-ensemble   .1237  .1781 .2142 .3222 .2103 .3787 .1927 .1859 .9078 .6046 .7006 .7117 .2069
mnist7-s10-hmc-p1 .1228  .1585 .2168 .2896 .2095 .3224 .2047 .1802 .7836 .5626 .4227 .5221 .2111
mnist7-s10-smc-p1 .08528 .1255 .1679 .2245 .1654 .2520 .1495 .1396 .7591 .5651 .6169 .5800 .1623
mnist7-gold-2e4   .1268  .1621 .1988 .2616 .1847 .2655 .1785 .1569 .6333 .5554 .2819 .3444 .5943
`},
	{"12", "epistemic_digit0 epistemic_digit1 epistemic_digit2 epistemic_digit3 epistemic_digit4 epistemic_digit5 epistemic_digit6 " +
		"epistemic_digit7 epistemic_all", `
mnist7-ensemble   .007076 .005823 .01236 .02711 .01182 .02712 .01180 .009730 .03291
mnist7-s10-hmc-p1 .04427  .03038  .08122 .09873 .06583 .1171  .07891 .06008  .07090
mnist7-s10-smc-p1 .02574  .01535  .04118 .04404 .03272 .05366 .03605 .02967  .03429
mnist7-gold-2e4   .08893  .05025  .1423  .1613  .1078  .1773  .1182  .09589  .4265
`},
	{"4a, 4b", "precision ± recall ± f1 ± auc ±", `
answers-map-one-half    .846 .014 .162 .016 .271 .024 .828 .013
answers-ensemble-half   .876 .007 .213 .011 .342 .015 .855 .003
answers-s10-smc-p1-half .845 .020 .216 .037 .338 .049 .824 .017
answers-s10-smc-p8-half .894 .015 .389 .046 .537 .052 .884 .006
answers-s10-hmc-p1-half .906 .004 .432 .020 .584 .020 .885 .002
answers-s10-hmc-p8-half .907 .001 .470 .007 .619 .006 .892 .001
answers-map-one-f1      .707 .013 .898 .006 .791 .009 .828 .013
answers-ensemble-f1     .734 .004 .897 .003 .807 .002 .855 .003
answers-s10-smc-p1-f1   .701 .021 .890 .015 .783 .010 .824 .017
answers-s10-smc-p8-f1   .753 .004 .915 .004 .826 .001 .884 .006
answers-s10-hmc-p1-f1   .750 .003 .906 .004 .820 .002 .885 .002
answers-s10-hmc-p8-f1   .752 .003 .913 .004 .825 .001 .892 .001
`},
	{"7a, 7b", "precision ± recall ± f1 ± auc ±", `
cifar10-map-half        .606 .058 .947 .053 .723 .015 .856 .001
cifar10-ensemble-half   .608 .062 .943 .057 .721 .015 .858 .002
cifar10-s05-smc-p1-half .607 .059 .951 .049 .726 .018 .861 .001
cifar10-s05-smc-p8-half .606 .060 .952 .048 .725 .019 .864 .000
cifar10-s05-hmc-p1-half .606 .060 .951 .049 .724 .019 .864 .000
cifar10-s05-hmc-p8-half .605 .060 .953 .047 .725 .019 .867 .000
cifar10-map-f1          .776 .005 .836 .006 .805 .001 .856 .001
cifar10-ensemble-f1     .767 .003 .848 .003 .805 .001 .858 .002
cifar10-s05-smc-p1-f1   .794 .000 .824 .001 .809 .000 .861 .001
cifar10-s05-smc-p8-f1   .792 .003 .830 .003 .811 .000 .864 .000
cifar10-s05-hmc-p1-f1   .794 .000 .829 .001 .811 .000 .864 .000
cifar10-s05-hmc-p8-f1   .788 .001 .842 .001 .814 .000 .867 .000
`},
	{"21 to 23", "accuracy ± nll brier ece epistemic_right epistemic_wrong total_right total_wrong", `
cifar10-s05-smc-p2 90.12 .06 .3100 .1466 .01942  .01796 .09094 .1321 .6646
cifar10-s05-hmc-p2 90.80 .02 .2707 .1351 .005574 .04376 .1896  .1956 .8144
cifar10-s05-smc-p4 90.34 .04 .2960 .1399 .01242  .02855 .1356  .1304 .6700
cifar10-s05-hmc-p4 90.84 .04 .2688 .1344 .006442 .04523 .1937  .1970 .8161
cifar10-s10-smc-p2 89.62 .09 .3336 .1553 .01983  .02733 .1343  .1256 .6382
cifar10-s10-hmc-p2 90.76 .04 .2753 .1372 .01356  .09734 .2968  .2316 .8732
cifar10-s10-smc-p4 90.20 .08 .3100 .1453 .009413 .04484 .2002  .1235 .6432
cifar10-s10-hmc-p4 90.84 .04 .2722 .1360 .01517  .1018  .3072  .2360 .8822
cifar10-s20-smc-p2 88.77 .07 .3854 .1699 .02554  .03863 .1856  .1108 .5822
cifar10-s20-hmc-p2 90.53 .04 .2890 .1426 .03096  .1300  .4377  .2836 .9479
cifar10-s20-smc-p4 89.82 .04 .3441 .1536 .01193  .06722 .2780  .1089 .5885
cifar10-s20-hmc-p4 90.73 .02 .2840 .1406 .03368  .1368  .4524  .2909 .9611
`},
}

// names are the cells of the lines.
func (t *printedTable) names() (all []string) {
	for line := range strings.Lines(strings.TrimSpace(t.cells)) {
		all = append(all, strings.Fields(line)[0])
	}
	return all
}

// withPublished gives cells the figures that the tables print, and the marks of those that the paper contradicts: by cell and mark the measures.
func withPublished(cells []Cell, tables []printedTable, marks map[string]map[string][]string) []Cell {
	published := figuresOf(tables)
	for i := range cells {
		c := &cells[i]
		if c.Published == nil {
			c.Published = published[c.Name]
		}
		for mark, measures := range marks[c.Name] {
			for _, m := range measures {
				if c.Misprints == nil {
					c.Misprints = map[string]string{}
				}
				c.Misprints[m] = mark
			}
		}
	}
	return cells
}

// figuresOf reads the tables into the published figures of cells. A mistake in them panics: a test reads all.
func figuresOf(tables []printedTable) map[string]Figures {
	all := map[string]Figures{}
	for _, t := range tables {
		columns := strings.Fields(t.columns)
		for line := range strings.Lines(strings.TrimSpace(t.cells)) {
			values := strings.Fields(line)
			cell := values[0]
			if values = values[1:]; len(values) != len(columns) {
				panic(fmt.Sprintf("table %s, cell %s: %d figures for %d columns", t.tables, cell, len(values), len(columns)))
			}
			if all[cell] == nil {
				all[cell] = Figures{}
			}
			for i, text := range values {
				if text == "-" || columns[i] == "±" {
					continue
				}
				m := Mean{printedNumber(text), uq.Number(math.NaN())}
				if before, ok := all[cell][columns[i]].(Mean); ok {
					m.SD = before.SD
				}
				if i+1 < len(columns) && columns[i+1] == "±" && values[i+1] != "-" {
					m.SD = uq.Number(printedNumber(values[i+1]))
				}
				all[cell][columns[i]] = m
			}
		}
	}
	return all
}

func printedNumber(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}
