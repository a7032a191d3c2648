// Command keys writes what the keys of a config mean: spec/meanings.txt, which the command embeds, and docs/config.md.
//
// The meaning of a key is the comment of its Go field, and that of a part is its line in docs/parts.md. Nothing is written here by hand.
// It is run by go generate ./spec, in the folder of package spec; the test of this package asks whether both files are fresh.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(".."); err != nil {
		fmt.Fprintln(os.Stderr, "keys:", err)
		os.Exit(1)
	}
}

// run writes both files of the source tree at root.
func run(root string) error {
	text, page, err := generate(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, meaningsFile), text, 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, pageFile), page, 0o666)
}

// The files that are written, and the one that is read beside the source.
const (
	meaningsFile = "spec/meanings.txt"
	pageFile     = "docs/config.md"
	partsFile    = "docs/parts.md"
)
