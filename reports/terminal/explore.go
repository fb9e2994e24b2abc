package terminal

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/campaign"
	"locksim/scenarios/explore"
)

// ExploreReplay is the command that makes a violation again. i numbers those of
// the exploration from 1.
type ExploreReplay func(i int, d explore.Distinct) string

// Exploration writes what was tried, what it is worth, and each violation of
// another shape: what was violated, its story, the smallest schedule that leads
// to it, and the command that replays it.
//
// The errors are those of [Run].
func Exploration(w io.Writer, e *explore.Exploration, replay ExploreReplay, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(exploreHead(e), opt.Width))
	p.Add(exploreFigures(e, opt))
	p.Add(doubts(campaign.ExplorationDoubts(e), opt))
	for i, d := range e.Summary.Distinct {
		p.Add(distinct(i+1, d, replay, opt))
	}
	if len(e.Summary.Distinct) == 0 {
		p.Add(prose.Fold(campaign.ExplorationVerdict(e), opt.Width))
	}
	return p.Render(w)
}

func exploreHead(e *explore.Exploration) string {
	return fmt.Sprintf("exploration of lock %s, %s runs from seed %d on, %s", e.Plan.Lock, prose.Thousands(e.Plan.Runs), e.Plan.FirstSeed, judgedBy(e.Plan.Judge))
}

func judgedBy(judge explore.Judge) string {
	if judge == explore.JudgePromise {
		return "judged by its own promise, under the faults of which it speaks"
	}
	return "judged as if it promised that all goes well under every fault"
}

// doubts are folded lines.
func doubts(lines []string, opt reports.Options) []string {
	var out []string
	for _, line := range lines {
		out = append(out, prose.FoldIndented(line, opt.Width)...)
	}
	return out
}

// exploreFigures are the counts, each kind on lines of its own.
func exploreFigures(e *explore.Exploration, opt reports.Options) []string {
	s := &e.Summary
	lines := prose.Fold(fmt.Sprintf("%s over %s of virtual time; %s of them are evidence: a violation was seen, or clients contended and faults struck.",
		prose.Amount(s.Runs, "run"), prose.Span(s.VirtualSeconds), prose.Thousands(s.NonVacuous)), opt.Width)
	for _, row := range []struct{ name, text string }{
		{"no evidence: ", campaign.Tallies(s.Vacuous)},
		{"faults that struck, of those drawn: ", struckOf(s.Faults)},
		{"classes of fault that struck: ", campaign.Coverage(e)},
		{"violations: ", campaign.Tallies(s.Violations)},
	} {
		if row.text != "" {
			lines = append(lines, prose.Fold(row.name+row.text, opt.Width)...)
		}
	}
	if len(s.Distinct) > 0 {
		lines = append(lines, prose.Fold(campaign.ExplorationVerdict(e), opt.Width)...)
	}
	return lines
}

func struckOf(kinds map[string]explore.FaultTally) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %s of %s", kind, prose.Thousands(kinds[kind].Struck), prose.Thousands(kinds[kind].Drawn)))
	}
	return strings.Join(parts, ", ")
}

// distinct is one violation. It begins with its seed and ends with the command
// that replays it.
func distinct(i int, d explore.Distinct, replay ExploreReplay, opt reports.Options) []string {
	head := fmt.Sprintf("VIOLATION %d: %s (%s like it, the first with seed %d)", i, d.Shape, prose.Amount(d.Runs, "run"), d.FirstSeed)
	return violation(head, d.Shown.Text("replay: "+replay(i, d)), opt)
}

// violation is one violation under its headline. Its reasons, which come first,
// are folded.
func violation(head, text string, opt reports.Options) []string {
	reasons, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n\n")
	lines := []string{paint(opt.Colour, alarm, head)}
	for _, line := range strings.Split(reasons, "\n") {
		lines = append(lines, prose.FoldIndented(line, opt.Width)...)
	}
	return append(append(lines, ""), strings.Split(rest, "\n")...)
}
