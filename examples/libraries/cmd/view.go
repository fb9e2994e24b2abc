package main

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/examples/libraries"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/scenarios/outcome/tally"
)

// part is a part of a cell as it is shown: a mark, and what it means in a sentence.
type part struct {
	*libraries.Part
	mark, sentence string
	// Within says that it is about what the lock promises.
	Within bool
}

// partsOf are the parts of a cell that say something.
func partsOf(c *libraries.Cell) []part {
	var out []part
	if c.Promise != nil {
		out = append(out, shown(c.Promise, true))
	}
	if c.Beyond != nil {
		out = append(out, shown(exclusion(c.Beyond), false))
	}
	return out
}

// exclusion is what runs have shown of the exclusion and of the data alone: a holder that is told late of its loss is left
// out, where no other client has entered. The runs with the most frequent of the other labels count: they are at least so
// many.
func exclusion(p *libraries.Part) *libraries.Part {
	out := *p
	out.Labels, out.Violating = map[string]int{}, 0
	for label, n := range p.Labels {
		if label != string(checker.Misconduct) {
			out.Labels[label], out.Violating = n, max(out.Violating, n)
		}
	}
	out.Inapplicable = out.Inapplicable || out.Felt == 0 && out.Violating == 0
	out.Failures = slices.DeleteFunc(slices.Clone(p.Failures), func(f libraries.Failure) bool { return f.Label == checker.Misconduct })
	return &out
}

// Mark is the mark.
func (p part) Mark() string { return p.mark }

// Sentence says what the runs have shown.
func (p part) Sentence() string { return p.sentence }

// Class names the mark, for a page.
func (p part) Class() string {
	switch {
	case p.NoVerdict != "":
		return "unknown"
	case p.Inapplicable && p.Violating == 0:
		return "none"
	case p.Within && p.Violating > 0:
		return "broken"
	case p.Violating > 0:
		return "beyond"
	}
	return "kept"
}

func shown(p *libraries.Part, within bool) part {
	out := part{Part: p, Within: within}
	under := "with nothing that fails"
	if len(p.Faults) > 0 {
		under = "under " + prose.Commas(names(p.Faults))
	}
	switch {
	case p.NoVerdict != "":
		first, _, _ := strings.Cut(p.NoVerdict, "\n")
		out.mark, out.sentence = "?", fmt.Sprintf("No verdict %s: %s", under, first)
	case p.Inapplicable && p.Violating == 0:
		out.mark, out.sentence = "–", fmt.Sprintf("No run tells anything %s: such a fault strikes none of its servers, or is not felt.", under)
	case p.Violating > 0:
		out.mark = "✗"
		out.sentence = fmt.Sprintf("%s: in %d of %d runs in which two clients wanted it, %s (%s).", breaks(within), p.Violating, p.Evidence, under, labels(p.Labels))
	default:
		out.mark = "✓"
		out.sentence = fmt.Sprintf("%s: %d runs that test it, %s; with 95 %% confidence fewer than %s of such runs break it.",
			keeps(within), p.Felt, under, tally.Percent(tally.RateBound(0, p.Felt)))
	}
	if !within {
		out.mark = "(" + out.mark + ")"
	}
	return out
}

func breaks(within bool) string {
	if within {
		return "It breaks its promise"
	}
	return "It promises nothing here, and broke"
}

func keeps(within bool) string {
	if within {
		return "It keeps its promise"
	}
	return "It promises nothing here, and held"
}

// markOf are the marks of a cell, in one line.
func markOf(c *libraries.Cell) string {
	var out []string
	for _, p := range partsOf(c) {
		out = append(out, p.Short())
	}
	return strings.Join(out, " ")
}

// Short is the mark with the number of runs.
func (p part) Short() string {
	text := p.mark
	switch p.Class() {
	case "broken", "beyond":
		text = fmt.Sprintf("✗ %d/%d", p.Violating, p.Evidence)
	case "kept":
		text = fmt.Sprintf("✓ %d", p.Felt)
	default:
		return text
	}
	if !p.Within {
		text = "(" + text + ")"
	}
	return text
}

func names(faults []lock.Fault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, string(f))
	}
	return out
}

// labels says how many runs had each label.
func labels(of map[string]int) string {
	keys := make([]string, 0, len(of))
	for k := range of {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s %d", k, of[k])
	}
	return strings.Join(keys, ", ")
}

// storyOf is the story of a failure, a line for each step.
func storyOf(f libraries.Failure) []string {
	out := slices.Clone(f.Reasons)
	for _, s := range f.Story {
		if s.N == 0 {
			out = append(out, fmt.Sprintf("… %s", prose.Count(s.Skipped, "step")))
			continue
		}
		mark := " "
		if s.Fatal {
			mark = ">"
		}
		out = append(out, fmt.Sprintf("%s %10s  %4d  %-6s %s", mark, prose.Seconds(s.At), s.N, s.Actor, s.Text))
	}
	return out
}
