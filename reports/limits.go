package reports

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// limits says what the run does not prove, and how much stands behind it.
func limits(o *play.Outcome, opt Options) []string {
	if len(ran(o)) == 0 {
		return nil
	}
	var b strings.Builder
	safe := labelled(o, checker.Safe)
	switch len(safe) {
	case 0:
		b.WriteString("One seed is one schedule of many: other seeds may end better or worse.")
	case len(ran(o)):
		fmt.Fprintf(&b, "No violation in %s. That is not a proof: one seed is one schedule of many.", these(len(safe)))
	default:
		fmt.Fprintf(&b, "No violation in mode %s. That is not a proof: one seed is one schedule of many.", prose.Commas(safe))
	}
	b.WriteString(" " + counts(o))
	return append(vacuous(o, opt), prose.Fold(b.String(), opt.Width)...)
}

func these(runs int) string {
	if runs == 1 {
		return "this run"
	}
	return fmt.Sprintf("these %d runs", runs)
}

// ran are the runs that were made.
func ran(o *play.Outcome) []play.ModeRun {
	var runs []play.ModeRun
	for _, m := range o.Modes {
		if m.Trace != nil {
			runs = append(runs, m)
		}
	}
	return runs
}

func labelled(o *play.Outcome, label checker.Label) []fence.Mode {
	var modes []fence.Mode
	for _, m := range ran(o) {
		if m.Verdict.Label == label {
			modes = append(modes, m.Mode)
		}
	}
	return modes
}

// counts is the evidence of all runs together.
func counts(o *play.Outcome) string {
	contended, acquires, struck, faults := 0, 0, 0, 0
	for _, m := range ran(o) {
		f := m.Verdict.Facts
		contended, acquires = contended+f.Contended, acquires+f.Grants+f.Attempts
		struck, faults = struck+fired(m), faults+len(m.FaultsFired)
	}
	text := fmt.Sprintf("In all, %d of %d acquires were contended", contended, acquires)
	if faults == 0 {
		return text + "; no faults were scheduled."
	}
	return text + fmt.Sprintf(" and %d of %d faults struck.", struck, faults)
}

// vacuous says loudly where a run proves even less than it seems to.
func vacuous(o *play.Outcome, opt Options) []string {
	var lines []string
	loud := func(format string, args ...any) {
		for i, line := range prose.Fold("VACUOUS: "+fmt.Sprintf(format, args...), opt.Width) {
			if i == 0 {
				line = opt.Colour.paint(warning, "VACUOUS") + strings.TrimPrefix(line, "VACUOUS")
			}
			lines = append(lines, line)
		}
	}
	for _, m := range ran(o) {
		safe := m.Verdict.Label == checker.Safe
		if safe && m.Verdict.Facts.Contended == 0 {
			loud("in mode %s no acquire was contended, so safe says nothing about exclusion.", m.Mode)
		}
		for i, f := range o.Scenario.Faults {
			if safe && i < len(m.FaultsFired) && !m.FaultsFired[i] {
				loud("in mode %s fault %d never struck (%v).", m.Mode, i+1, f)
			}
		}
		if safe && m.PartialPause {
			loud("in mode %s pauses were partial: that nothing went wrong under them is no evidence.", m.Mode)
		}
	}
	return lines
}
