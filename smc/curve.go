package smc

// Curve is a quantity of a path over the iterations of a run: one chart of a report.
type Curve struct {
	ID      string // in lower-case letters; curves with the same meaning have the same ID, whatever the path
	Title   string
	Axis    string // label of the y axis: the quantity and its unit
	Caption string // explains the curve to the reader

	Of       func(info Info) float64
	Decimals int  // decimals to write
	Log      bool // the axis is logarithmic
	Whole    bool // values are whole numbers
	Zero     bool // the axis begins at 0, and a constant is worth drawing
	Step     bool // drawn as steps
	Share    bool // values lie between 0 and 1, the ends of the axis
}

// batchSize is the curve of the number of examples in the target.
var batchSize = Curve{
	ID: "examples", Title: "Batch size", Axis: "examples in the target", Caption: "The number of examples that the target of each iteration sees.",
	Of: func(info Info) float64 { return float64(info.Examples) }, Whole: true, Zero: true, Step: true,
}
