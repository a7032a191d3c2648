package finding

import (
	"reflect"
	"strings"
	"unicode"
)

// kinds are all kinds, by the names that runs keep. What a run has kept is read by them.
var kinds = named(
	Optimiser{}, Merged{}, SingleAncestor{}, Ancestors{}, IslandsEnd{}, UnevenWeights{}, DeadNetworks{}, Stopped{}, StoppedEarly{}, BeganAtInit{},
	BeganAtInitTempering{}, OptimisedRuns{}, MergedRuns{},
	NoEvidence{}, NoPathOfTargets{}, NoEvidenceByFresh{}, NoWeights{}, NoFixedModel{}, Evidence{}, EvidenceMerged{}, EvidenceUnmoved{},
	EvidenceOptimised{}, EvidenceAgrees{}, EvidenceScatters{}, EvidenceOfOne{}, EvidenceWithin{}, EvidenceRough{}, LadderBias{},
	ChainsEnd{}, ChainsOutlying{}, FewTrajectories{}, ChainsAgree{}, ChainsApart{}, ChainsUnsure{}, ChainsUntold{}, ChainsUncompared{}, ChainsRough{}, FewStates{},
	Biased{}, ChainStuck{}, ChainsStill{}, IslandsStuck{}, IslandsStill{}, MovesStuck{}, SamplingFailed{}, ScaleKept{}, Exploded{}, UnmovedRuns{},
	Divergent{}, DivergentRefused{}, DivergentRefusedFew{}, ChainsDiverged{}, ChainsDivergedFew{},
	ELBOUnsettled{}, LaplaceEvidence{}, LaplaceOffMode{}, LaplaceAtEdge{}, SWAGSpread{}, SWAGNarrow{}, SWAGWide{}, SVGD{}, MeanField{}, ChosenByValidation{}, AsIs{}, Point{}, OneBatch{}, PriorOfDecay{},
	RestartsLost{}, StillFalling{}, IslandsLost{},
	Unscored{}, EnsembleBetter{}, NoSkill{}, Underconfident{}, Overconfident{}, Miscalibrated{}, IntervalsNarrow{}, IntervalsWide{}, NotDecided{}, RiskNotKept{},
	ConstantColumns{}, EmptyColumns{}, RowCounters{}, RowNumbers{}, IgnoredColumns{}, ColumnsByPlace{}, UnknownWords{}, NoLongerConstant{},
	WordColumns{}, GroupsTogether{}, GroupsShared{}, UnlikeWords{}, UnitWords{}, WholeAmounts{}, ManyZeros{}, MissingValues{}, MissingElsewhere{}, ZeroFeatures{}, UnseenClasses{}, RareClasses{},
	WrittenNumbers{}, PaddedNumbers{}, DifferingWords{}, InexactNumbers{}, RoundedNumbers{}, DateIndex{}, RowsWithoutTarget{}, AlikeClasses{}, AlikeWords{}, AlikeGroups{}, FilledValues{},
	NoThreshold{}, FewForThreshold{}, CalibrationSeen{}, CalibrationScored{}, ForeignScored{}, OutsideRows{}, OtherUnits{}, NoRanges{}, ChannelsLast{}, InitUnused{}, CountersIgnored{},
	FewDraws{}, LoneAncestor{}, FewAncestors{}, LostTarget{}, IdleScans{}, NearlyNormal{}, SurprisingScans{}, SparseTargets{}, FiltersApart{}, IdleSubsampling{}, SmallFilters{}, OneNode{}, OnePass{}, MoreNodesThanMeasurements{}, EmptySites{}, RepairedSites{}, ErrorsUnknown{}, StillCoordinates{}, ScansLeftOut{}, PartialMeasurements{}, MostScansLeftOut{}, WrongUnit{},
	WiderThanRegion{}, TruthElsewhere{},
	CalibrationUnknown{},
)

// named are kinds by their names.
func named(list ...Kind) map[string]reflect.Type {
	all := make(map[string]reflect.Type, len(list))
	for _, k := range list {
		all[nameOf(k)] = reflect.TypeOf(k)
	}
	return all
}

func nameOf(k Kind) string { return spelled(reflect.TypeOf(k).Name(), '-') }

// spelled is a Go name in small letters, with a mark between its words.
func spelled(name string, mark rune) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			b.WriteRune(mark)
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
