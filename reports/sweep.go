package reports

import (
	"fmt"
	"io"
	"strings"

	"locksim/internal/prose"
	"locksim/scenarios/explore"
	"locksim/scenarios/search"
	"locksim/scenarios/sweep"
)

// SweepReplay is the command that makes a violation again. i numbers those of
// the sweep from 1.
type SweepReplay func(i int, f *search.Failure) string

// Sweep writes what was covered, kind by kind, and each class of violation: what
// was violated, its story, the smallest schedule that leads to it, and the
// command that replays it.
//
// The errors are those of [Terminal].
func Sweep(w io.Writer, s *sweep.Sweep, replay SweepReplay, opt Options) error {
	opt, err := opt.withDefaults()
	if err != nil {
		return err
	}
	p := &page{opt: opt}
	p.part(fold(sweepHead(s), opt.Width))
	p.part(fold(s.Statement()+".", opt.Width))
	p.part(sweepFigures(s, opt))
	p.part(sweepOddities(s, opt))
	for i := range s.Summary.Failures {
		p.part(sweepClass(i+1, &s.Summary.Failures[i], replay, opt))
	}
	return p.write(w)
}

func sweepHead(s *sweep.Sweep) string {
	by := "judged as if it promised that all goes well under every fault"
	if s.Plan.Judge == explore.JudgePromise {
		by = "judged by its own promise, under the faults of which it speaks"
	}
	return fmt.Sprintf("sweep of scenario %s without its faults, lock %s, seed %d, %s", s.Plan.Scenario, s.Plan.Lock, s.Plan.Seed, by)
}

// sweepFigures are the counts, each kind on lines of its own.
func sweepFigures(s *sweep.Sweep, opt Options) []string {
	t := &s.Summary
	lines := fold("placements that struck: "+placed(t), opt.Width)
	for _, row := range []struct {
		n    int
		text string
	}{
		{s.Plan.Equivalent, "placements are left out: the fault would find its target as one of these does"},
		{s.Plan.Idle, "jumps of client clocks are left out: no client looks at its wall clock"},
		{t.Runs - t.Struck(), "did not come about to their end: the workload was over before"},
		{t.Reduced, "pairs break the promise as one of their faults does alone"},
	} {
		if row.n > 0 {
			lines = append(lines, fold(prose.Thousands(row.n)+" "+row.text+".", opt.Width)...)
		}
	}
	for _, row := range []struct{ name, text string }{
		{"no evidence: ", tallies(t.VacuousStruck())},
		{"violations: ", tallies(t.Violations)},
	} {
		if row.text != "" {
			lines = append(lines, fold(row.name+row.text, opt.Width)...)
		}
	}
	return lines
}

// placed writes "pause 200, crash 110; restart 120 of 133", in the order in
// which they are placed.
func placed(t *sweep.Summary) string {
	var parts []string
	for _, k := range sweep.Kinds() {
		n, ok := t.Kinds[k.Name]
		switch {
		case !ok:
		case n.Struck == n.Planned:
			parts = append(parts, k.Name+" "+prose.Thousands(n.Planned))
		default:
			parts = append(parts, fmt.Sprintf("%s %s of %s", k.Name, prose.Thousands(n.Struck), prose.Thousands(n.Planned)))
		}
	}
	return strings.Join(parts, ", ")
}

// sweepOddities are what stands in the way of relying on the result.
func sweepOddities(s *sweep.Sweep, opt Options) []string {
	var lines []string
	switch {
	case s.Complete:
	case s.Timing.Shard != "":
		lines = fold(fmt.Sprintf("This is shard %s: %s of %d runs are missing. Merge puts the shards together.", s.Timing.Shard, prose.Count(s.Missing, "job"), s.Plan.Block), opt.Width)
	default:
		lines = fold(fmt.Sprintf("INCOMPLETE: %s of %d runs have no result.", prose.Count(s.Missing, "job"), s.Plan.Block), opt.Width)
	}
	for line := range strings.Lines(s.Summary.Problem()) {
		lines = append(lines, indented(strings.TrimRight(line, "\n"), opt.Width)...)
	}
	return lines
}

// sweepClass is one class of violation. It ends with the command that replays
// the smallest.
func sweepClass(i int, f *search.Failure, replay SweepReplay, opt Options) []string {
	head := fmt.Sprintf("VIOLATION %d: %s (%s like it, the first: %s)", i, f.Shape, runs(f.Runs), f.Placed.Faults)
	if f.Run == nil {
		return []string{opt.Colour.paint(alarm, head), "It has not been examined."}
	}
	return violation(head, f.Text("replay: "+replay(i, f)), opt)
}
