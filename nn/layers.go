package nn

import (
	"cmp"
	"fmt"

	"github.com/starling-smc/starling/internal/config"
)

// Layers lists the layers by their names in a config. A layer is added by its file and a row here.
var Layers = config.Table[Layer]{
	{Name: "dense", Part: Dense{}},
	{Name: "lora", Part: LoRA{}},
	{Name: "embed", Part: Embed{}},
	{Name: "conv", Part: Conv{}},
	{Name: "maxpool", Part: MaxPool{}},
	{Name: "avgpool", Part: AvgPool{}},
	{Name: "global_avgpool", Part: GlobalAvgPool{}},
	{Name: "frn", Part: FRN{}},
	{Name: "norm", Part: Norm{}},
	{Name: "residual", Part: Residual{}},
	{Name: "pad", Part: Pad{}},
	{Name: "flatten", Part: Flatten{}},
	{Name: "dropout", Part: Dropout(0.5)},
	{Name: "relu", Part: ReLU},
	{Name: "tanh", Part: Tanh},
	{Name: "gelu", Part: GELU},
	{Name: "swish", Part: Swish},
}

// kind is the name of a layer in a config.
func kind(l Layer) string { return cmp.Or(Layers.Name(l), fmt.Sprintf("%T", l)) }
