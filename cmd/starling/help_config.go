package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-smc/starling/internal/spelling"
	"github.com/starling-smc/starling/presets"
	"github.com/starling-smc/starling/spec"
)

// described lists the keys of the configs of a verb.
func described(verb string) []spec.Key {
	if verb == presets.Filter {
		return spec.DescribeFilter()
	}
	return spec.Describe()
}

// helpConfig explains the keys of a config that are named, or lists those at its top.
func helpConfig(cmd *cobra.Command, args []string) error {
	w := cmd.OutOrStdout()
	if len(args) == 0 {
		for _, verb := range []string{presets.Fit, presets.Filter} {
			fmt.Fprintf(w, "A config of %s (starling %s) has these keys:\n", configured[verb], verb)
			showKeys(w, described(verb), "")
			fmt.Fprintln(w)
		}
		wrap(w, "starling help config KEY explains one of them, as starling help config method.mcmc.move. docs/config.md has all.")
		return nil
	}
	for i, path := range args {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := helpKey(w, path); err != nil {
			return err
		}
	}
	return nil
}

// helpKey explains a key, of the configs of both verbs if both have it.
func helpKey(w io.Writer, path string) error {
	path = regexp.MustCompile(`\.[0-9]+(\.|$)`).ReplaceAllString(path, ".N$1") // of an item of a list
	var known, ends []string
	found := false
	for _, verb := range []string{presets.Fit, presets.Filter} {
		keys := described(verb)
		for _, k := range keys {
			known = append(known, k.Path)
			if strings.HasSuffix(k.Path, "."+path) {
				ends = append(ends, k.Path)
			}
		}
		k, ok := keyOrPart(keys, path)
		if !ok {
			continue
		}
		if found {
			fmt.Fprintf(w, "\nin a config of %s:\n", configured[verb])
		}
		found = true
		showKey(w, k, keys)
	}
	switch {
	case found:
		return nil
	case ends != nil:
		return wrongUse("no key %q at the top of a config: did you mean %s?", path, strings.Join(ends[:min(len(ends), 5)], ", "))
	}
	return wrongUse("no key %q%s (to list the keys: starling help config)", path, spelling.Suggest(path, known))
}

// keyOrPart finds a key, or a part that has no settings and so no key of its own.
func keyOrPart(keys []spec.Key, path string) (spec.Key, bool) {
	if i := slices.IndexFunc(keys, func(k spec.Key) bool { return k.Path == path }); i >= 0 {
		return keys[i], true
	}
	dot := strings.LastIndex(path, ".")
	for _, k := range keys {
		for _, p := range k.Parts {
			if dot >= 0 && k.Path == path[:dot] && p.Name == path[dot+1:] {
				part := spec.Key{Meaning: p.Meaning}
				part.Path, part.Type = path, "a name, without settings"
				return part, true
			}
		}
	}
	return spec.Key{}, false
}

// showKey writes what is known of a key, the parts that it names, and the keys in its block.
func showKey(w io.Writer, k spec.Key, keys []spec.Key) {
	fmt.Fprintln(w, k.Path)
	beside(w, "  type    ", k.Type)
	switch {
	case k.Required:
		beside(w, "  default ", "none: it must be given")
	case k.Default != "":
		beside(w, "  default ", k.Default)
	}
	beside(w, "  meaning ", k.Meaning)
	if k.Parts != nil {
		fmt.Fprintln(w, "  one of")
		widest := 0
		for _, p := range k.Parts {
			widest = max(widest, len(p.Name))
		}
		for _, p := range k.Parts {
			beside(w, fmt.Sprintf("    %-*s ", widest, p.Name), p.Meaning)
		}
		return
	}
	showKeys(w, keys, k.Path+".")
}

// showKeys writes the keys that stand directly under a path, which ends in a dot.
func showKeys(w io.Writer, keys []spec.Key, under string) {
	widest := 0
	var inside []spec.Key
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k.Path, under); ok && !strings.Contains(rest, ".") && rest != "N" && rest != "NAME" {
			inside, widest = append(inside, k), max(widest, len(rest))
		}
	}
	if under != "" && inside != nil {
		fmt.Fprintln(w, "  keys")
	}
	for _, k := range inside {
		beside(w, fmt.Sprintf("    %-*s ", widest, strings.TrimPrefix(k.Path, under)), k.Meaning)
	}
}
