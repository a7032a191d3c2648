// Command keys writes what the keys of a config mean: spec/meanings.txt, which the command embeds, and docs/config.md.
//
// The comment of a Go field is the meaning of its key, and a line of docs/parts.md the meaning of its part. go generate ./spec runs the
// command in the folder of package spec. The test of this package fails if one of the files is stale.
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
