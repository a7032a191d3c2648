package smc

// Curve is a quantity of a path over the iterations of a run, for people to look at: one picture of a report.
type Curve struct {
	ID      string // a word of small letters; curves of one meaning have one ID, whatever the path
	Title   string
	Axis    string // the quantity and its unit, beside the axis
	Caption string // what a reader sees in it

	Of       func(info Info) float64
	Decimals int  // that are worth writing
	Log      bool // the axis is logarithmic
	Whole    bool // values are whole numbers
	Zero     bool // the axis begins at 0, and a constant is worth drawing
	Step     bool // it keeps a value until the next
	Share    bool // values lie between 0 and 1, the ends of the axis
}

// batchSize is the curve of the examples that the target sees.
var batchSize = Curve{
	ID: "examples", Title: "Batch size", Axis: "examples in the target", Caption: "The number of examples that the target of each iteration sees.",
	Of: func(info Info) float64 { return float64(info.Examples) }, Whole: true, Zero: true, Step: true,
}
