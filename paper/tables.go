package paper

// Tables lists the tables that can be run again.
var Tables = []*Table{&DataAnnealing, &GOHSMC, &GOHSMCSearch, &Uncertainty, &StandardSplits, &SMCSGHMC, &CIFAR10, &Sequential, &SBMCHeads, &SBMC, &SBMCSearch, &SBMCContest}
