package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/explore"
)

// ExploreReplay is the command that makes a violation again. i numbers those of
// the exploration from 1.
type ExploreReplay func(i int, d explore.Distinct) string

// Exploration writes what was tried, what it is worth, and each violation of
// another shape: what was violated, its story, the smallest schedule that leads
// to it, and the command that replays it.
//
// The errors are those of [Terminal].
func Exploration(w io.Writer, e *explore.Exploration, replay ExploreReplay, opt Options) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(exploreHead(e), opt.Width))
	p.Add(exploreFigures(e, opt))
	p.Add(exploreOddities(e, opt))
	for i, d := range e.Summary.Distinct {
		p.Add(distinct(i+1, d, replay, opt))
	}
	if len(e.Summary.Distinct) == 0 {
		p.Add(prose.Fold(exploreVerdict(e), opt.Width))
	}
	return p.Render(w)
}

func exploreHead(e *explore.Exploration) string {
	by := "judged as if it promised that all goes well under every fault"
	if e.Plan.Judge == explore.JudgePromise {
		by = "judged by its own promise, under the faults of which it speaks"
	}
	return fmt.Sprintf("exploration of lock %s, %s runs from seed %d on, %s", e.Plan.Lock, prose.Thousands(e.Plan.Runs), e.Plan.FirstSeed, by)
}

// exploreFigures are the counts, each kind on lines of its own.
func exploreFigures(e *explore.Exploration, opt Options) []string {
	s := &e.Summary
	lines := prose.Fold(fmt.Sprintf("%s over %s of virtual time; %s of them are evidence: a violation was seen, or clients contended and faults struck.",
		prose.Amount(s.Runs, "run"), prose.Span(s.VirtualSeconds), prose.Thousands(s.NonVacuous)), opt.Width)
	for _, row := range []struct{ name, text string }{
		{"no evidence: ", tallies(s.Vacuous)},
		{"faults that struck, of those drawn: ", struckOf(s.Faults)},
		{"classes of fault that struck: ", coverage(e)},
		{"violations: ", tallies(s.Violations)},
	} {
		if row.text != "" {
			lines = append(lines, prose.Fold(row.name+row.text, opt.Width)...)
		}
	}
	if len(s.Distinct) > 0 {
		lines = append(lines, prose.Fold(exploreVerdict(e), opt.Width)...)
	}
	return lines
}

// tallies writes "no fault struck 3, nobody contended 12".
func tallies[K ~string](of map[K]int) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %s", key, prose.Thousands(of[key])))
	}
	return strings.Join(parts, ", ")
}

func struckOf(kinds map[string]explore.FaultTally) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %s of %s", kind, prose.Thousands(kinds[kind].Struck), prose.Thousands(kinds[kind].Drawn)))
	}
	return strings.Join(parts, ", ")
}

// coverage writes "12 of 13; never: pause", or nothing where no fault is drawn.
func coverage(e *explore.Exploration) string {
	never, all := e.Uncovered()
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d", all-len(never), all)
	for i, class := range never {
		if i == 0 {
			text += "; never: "
		} else {
			text += ", "
		}
		text += string(class)
	}
	return text
}

// exploreVerdict says what the runs are worth.
func exploreVerdict(e *explore.Exploration) string {
	s := &e.Summary
	bound := fmt.Sprintf("the rate is below %.2g %% at 95 %% under this generator", 100*s.RateBound)
	switch {
	case s.Violating > 0 && e.StoppedAt != nil:
		return "The exploration ended with the first violation; --all goes on."
	case s.Violating > 0:
		return fmt.Sprintf("A violation in %s of %s that are evidence: %s. %s of different shape; %s with a violation not examined.",
			prose.Thousands(s.Violating), prose.Amount(s.NonVacuous, "run"), bound, prose.Count(len(s.Distinct), "violation"), prose.Amount(s.Unexamined, "run"))
	case s.NonVacuous == 0:
		return "No run says anything: this is no evidence."
	}
	return fmt.Sprintf("No violation in %s that are evidence: %s. That is no proof.", prose.Amount(s.NonVacuous, "run"), bound)
}

// exploreOddities are what stands in the way of relying on the result.
func exploreOddities(e *explore.Exploration, opt Options) []string {
	var lines []string
	switch {
	case e.Complete:
	case e.Timing.Shard != "":
		lines = prose.Fold(fmt.Sprintf("This is shard %s: %s of %d runs are missing. Merge puts the shards together.", e.Timing.Shard, prose.Count(e.Missing, "job"), e.Plan.Block), opt.Width)
	default:
		lines = prose.Fold(fmt.Sprintf("INCOMPLETE: %s of %d runs have no result.", prose.Count(e.Missing, "job"), e.Plan.Block), opt.Width)
	}
	for _, problem := range e.Summary.Problems() {
		for i, line := range strings.Split(strings.TrimRight(problem, "\n"), "\n") {
			if i > 0 {
				line = "  " + line
			}
			lines = append(lines, prose.FoldIndented(line, opt.Width)...)
		}
	}
	return lines
}

// distinct is one violation. It begins with its seed and ends with the command
// that replays it.
func distinct(i int, d explore.Distinct, replay ExploreReplay, opt Options) []string {
	head := fmt.Sprintf("VIOLATION %d: %s (%s like it, the first with seed %d)", i, d.Shape, prose.Amount(d.Runs, "run"), d.FirstSeed)
	return violation(head, d.Shown.Text("replay: "+replay(i, d)), opt)
}

// violation is one violation under its headline. Its reasons, which come first,
// are folded.
func violation(head, text string, opt Options) []string {
	reasons, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
	lines := []string{paint(opt.Colour, alarm, head)}
	for _, line := range strings.Split(reasons, "\n") {
		lines = append(lines, prose.FoldIndented(line, opt.Width)...)
	}
	return append(append(lines, ""), strings.Split(rest, "\n")...)
}
