package finding

import (
	"cmp"
	"slices"
	"strings"
)

// Help names the page and the section that tell more of a finding, as docs/choosing.md, “Chains that do not mix”; empty if there is
// none.
func (f Finding) Help() string {
	h := helps[f.say().help]
	if h.page == "" {
		return ""
	}
	return h.page + ", “" + h.section + "”"
}

// First lists what to do first: the cures of warnings, the most urgent first, one of a section and at most so many. A failed run comes
// first; warnings for pages alone come last.
func First(found []Finding, most int) []Finding {
	urgency := func(f Finding) int {
		switch {
		case f.Failure():
			return 0
		case !f.PageOnly():
			return 1
		}
		return 2
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(f, g Finding) int {
		return cmp.Or(cmp.Compare(urgency(f), urgency(g)), cmp.Compare(f.say().help, g.say().help))
	})
	var list []Finding
	for _, f := range found {
		told := slices.ContainsFunc(list, func(g Finding) bool { return g.say().help == f.say().help })
		if f.Warning() && !told && len(list) < most {
			list = append(list, f)
		}
	}
	return list
}

// More says on a terminal where more is told of warnings, in the order of First; empty if there is none.
func More(found []Finding) string {
	sections := map[string][]string{}
	var pages []string
	shown := slices.DeleteFunc(slices.Clone(found), Finding.PageOnly)
	for _, f := range First(shown, len(shown)) {
		h := helps[f.say().help]
		if sections[h.page] == nil {
			pages = append(pages, h.page)
		}
		sections[h.page] = append(sections[h.page], h.section)
	}
	for i, page := range pages {
		pages[i] = page + ", “" + strings.Join(sections[page], "”, “") + "”"
	}
	if pages == nil {
		return ""
	}
	return "what to do about it: " + strings.Join(pages, "; ")
}
