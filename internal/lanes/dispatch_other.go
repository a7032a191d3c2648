//go:build !amd64 || purego

package lanes

func supported() []isa { return []isa{isaGo} }
