package terminal

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/campaign"
	"locksim/scenarios/outcome/explorations"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/outcome/sweeps"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/outcome/triage"
	"locksim/scenarios/placing"
)

// Replay has the last lines of a violation: the commands that show it step by step and that repeat it. i numbers the
// violations of the exploration or the sweep from 1.
type Replay func(i int, f *failure.Failure) []string

// Exploration writes the counts of an exploration, what they prove, and each class of
// violation: what was violated, its story, the minimal schedule, and the command that
// replays it.
//
// The errors are those of [Run].
func Exploration(w io.Writer, e *explorations.Exploration, replay Replay, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(exploreHead(e), opt.Width))
	p.Add(doubts(campaign.ExplorationDoubts(e), opt))
	p.Add(exploreFigures(e, opt))
	p.Add(overTime(e, opt))
	for i := range e.Summary.Failures {
		p.Add(distinct(i+1, &e.Summary.Failures[i], replay, opt))
	}
	if len(e.Summary.Failures) == 0 {
		p.Add(prose.Fold(campaign.ExplorationVerdict(e), opt.Width))
	}
	return p.Render(w)
}

func byClass(trial string) string {
	return "runs that tested the " + trial + ", by class of fault, and how many of such runs may break it (95 % " +
		"confidence): "
}

// fencedTries is what was tried with a store under test; "" for none.
func fencedTries(s *explorations.Summary) string {
	if s.Fenced == (checker.FenceTries{}) {
		return ""
	}
	return s.Fenced.String()
}

func exploreHead(e *explorations.Exploration) string {
	return fmt.Sprintf("exploration of %s, %s runs from seed %d on, %s", e.Plan.Subject(), prose.Thousands(e.Plan.Runs),
		e.Plan.FirstSeed, e.Plan.Judge)
}

func doubts(lines []string, opt reports.Options) []string {
	var out []string
	for _, line := range lines {
		out = append(out, prose.FoldIndented(line, opt.Width)...)
	}
	return out
}

// exploreFigures are the counts, each kind on its own lines.
func exploreFigures(e *explorations.Exploration, opt reports.Options) []string {
	s := &e.Summary
	lines := prose.Fold(fmt.Sprintf("%s over %s of virtual time. %s of them %s.", prose.Count(s.Runs, "run"),
		prose.Span(s.VirtualSeconds), prose.Thousands(s.Evidence), e.Plan.Tested()), opt.Width)
	for _, row := range []struct{ name, text string }{
		{fmt.Sprintf("runs that did not test the %s: ", e.Plan.Trial()), campaign.Tallies(s.Vacuous)},
		{"faults that struck, of those drawn: ", struckOf(s.Faults)},
		{"classes of fault that struck: ", campaign.Coverage(e)},
		{byClass(e.Plan.Trial()), s.ByClass()},
		{"tried with the fence: ", fencedTries(s)},
		{"violations: ", campaign.Tallies(s.Violations)},
		{"nearest miss: ", nearestMiss(s.Nearest)},
		{"rare paths of the world, by the runs that reached them: ", campaign.Tallies(s.Rare)},
	} {
		if row.text != "" {
			lines = append(lines, prose.Fold(row.name+row.text, opt.Width)...)
		}
	}
	lines = append(lines, doubts(s.ByCall(), opt)...)
	if len(s.Failures) > 0 {
		lines = append(lines, prose.Fold(campaign.ExplorationVerdict(e), opt.Width)...)
	}
	return lines
}

// overTime says what is new, back, still there and gone since earlier explorations.
func overTime(e *explorations.Exploration, opt reports.Options) []string {
	if e.Triage == nil {
		return nil
	}
	lines := []string{"since earlier explorations: " + e.Triage.Text()}
	for _, shape := range e.Triage.Shapes {
		if shape.State == triage.Gone && shape.Last < e.Triage.Rounds-1 {
			continue
		}
		lines = append(lines, prose.FoldIndented(fmt.Sprintf("  %s: %s (%s)", shape.State.Words(), shape.Shape, shape.Text()),
			opt.Width)...)
	}
	return lines
}

func struckOf(kinds map[string]tally.FaultTally) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %s of %s", kind, prose.Thousands(kinds[kind].Struck),
			prose.Thousands(kinds[kind].Planned)))
	}
	return strings.Join(parts, ", ")
}

// distinct is one violation. It begins with its seed and ends with the command
// that replays it.
func distinct(i int, f *failure.Failure, replay Replay, opt reports.Options) []string {
	head := fmt.Sprintf("VIOLATION %d: %s (%s like it, the first with seed %d)", i, f.Shape, prose.Count(f.Runs, "run"),
		f.FirstSeed)
	return violation(head, f.Text(opt.Unseeded, replay(i, f)...), opt)
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

// Sweep writes the counts of a sweep, kind by kind, and each class of violation: what
// was violated, its story, the minimal schedule, and the command that replays it.
//
// The errors are those of [Run].
func Sweep(w io.Writer, s *sweeps.Sweep, replay Replay, opt reports.Options) error {
	opt, err := opt.WithDefaults()
	if err != nil {
		return err
	}
	p := new(prose.Page)
	p.Add(prose.Fold(sweepHead(s), opt.Width))
	p.Add(prose.Fold(s.Statement()+".", opt.Width))
	p.Add(sweepFigures(s, opt))
	p.Add(doubts(campaign.SweepDoubts(s), opt))
	for i := range s.Summary.Failures {
		p.Add(sweepClass(i+1, &s.Summary.Failures[i], replay, opt))
	}
	return p.Render(w)
}

func sweepHead(s *sweeps.Sweep) string {
	return fmt.Sprintf("sweep of scenario %s without its faults, lock %s, seed %d, %s", s.Plan.Scenario, s.Plan.Lock,
		s.Plan.Seed, s.Plan.Judge)
}

// sweepFigures are the counts, each kind on its own lines.
func sweepFigures(s *sweeps.Sweep, opt reports.Options) []string {
	t := &s.Summary
	lines := prose.Fold("placements that struck: "+placed(t), opt.Width)
	if servers := campaign.Struck(s); servers != "" {
		lines = append(lines, prose.Fold("placements on servers: "+servers, opt.Width)...)
	}
	for _, u := range s.Plan.NotPlaced() {
		lines = append(lines, prose.Fold("not placed: "+u, opt.Width)...)
	}
	for _, row := range []struct {
		n    int
		text string
	}{
		{s.Plan.Equivalent, "placements are left out: the fault would find its target in the same state as at one of these"},
		{s.Plan.Idle, "jumps of client clocks are left out: no client looks at its wall clock"},
		{t.Runs - t.Struck(), "did not strike in full: the workload ended before"},
		{t.Reduced, "pairs break the promise as one of their faults does alone"},
	} {
		if row.n > 0 {
			lines = append(lines, prose.Fold(prose.Thousands(row.n)+" "+row.text+".", opt.Width)...)
		}
	}
	for _, row := range []struct{ name, text string }{
		{"runs that did not test the lock: ", campaign.Tallies(t.VacuousStruck())},
		{byClass("lock"), t.ByClass()},
		{"violations: ", campaign.Tallies(t.Violations)},
		{"nearest miss: ", nearestMiss(t.Nearest)},
	} {
		if row.text != "" {
			lines = append(lines, prose.Fold(row.name+row.text, opt.Width)...)
		}
	}
	return append(lines, doubts(t.ByCall(), opt)...)
}

// nearestMiss is the nearest miss in words; "" for none.
func nearestMiss(n *tally.NearMiss) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// placed writes "pause 200, crash 110, restart 120 of 133": how many of the placed
// faults of each kind struck.
func placed(t *sweeps.Summary) string {
	var parts []string
	for _, k := range placing.Kinds() {
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

// sweepClass is one class of violation. It ends with the command that replays
// the smallest.
func sweepClass(i int, f *failure.Failure, replay Replay, opt reports.Options) []string {
	head := fmt.Sprintf("VIOLATION %d: %s (%s like it, the first: %s)", i, f.Shape, prose.Count(f.Runs, "run"),
		f.Placed.Faults)
	if f.Run == nil {
		return []string{paint(opt.Colour, alarm, head), "It has not been examined."}
	}
	return violation(head, f.Text(opt.Unseeded, replay(i, f)...), opt)
}
