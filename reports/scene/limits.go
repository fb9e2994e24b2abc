package scene

import (
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

// Limits say what an outcome does not prove, and how many runs it is based on.
func Limits(o *outcome.Outcome) []string {
	out := Obstacles(o)
	for _, text := range Vacuous(o) {
		out = append(out, "VACUOUS: "+text)
	}
	if text := Evidence(o); text != "" {
		out = append(out, text)
	}
	return append(out, "Interleavings inside one process are not explored, and a lock's own promise may be narrower "+
		"than what was asked of it here.")
}

// Evidence says how many runs, contended acquires and faults an outcome is based on.
// It is empty where no run was made.
func Evidence(o *outcome.Outcome) string {
	all := Ran(o)
	if len(all) == 0 {
		return ""
	}
	one, text := "one seed is one schedule of many", "One seed is one schedule of many: other seeds may end better or "+
		"worse."
	if o.Live != nil {
		one, text = "each live run has another order", "Each live run has another order of what happens: others may end "+
			"better or worse."
	}
	switch safe := labelled(o, checker.Safe); {
	case len(safe) == 1 && len(all) == 1:
		text = fmt.Sprintf("No violation in this run. That is not a proof: %s.", one)
	case len(safe) == len(all):
		text = fmt.Sprintf("No violation in these %d runs. That is not a proof: %s.", len(safe), one)
	case len(safe) > 0:
		text = fmt.Sprintf("No violation in mode %s. That is not a proof: %s.", prose.Commas(safe), one)
	}
	contended, acquires, struck, faults := 0, 0, 0, 0
	for _, m := range all {
		f := m.Verdict.Facts
		contended, acquires = contended+f.Contended, acquires+f.Grants+f.Attempts
		struck, faults = struck+fired(m), faults+len(m.FaultsFired)
	}
	text += fmt.Sprintf(" In all, %d of %d acquires were contended", contended, acquires)
	if faults == 0 {
		return text + "; no faults were scheduled."
	}
	return text + fmt.Sprintf(" and %d of %d faults struck.", struck, faults)
}

// NearestMiss says by how little the clients of a run missed having the lock at once: the least of the modes in which
// no claims overlap. It is empty if none has one.
func NearestMiss(o *outcome.Outcome) string {
	var least *checker.Slack
	for _, m := range Ran(o) {
		if s, ok := m.Verdict.NearestMiss(); ok && m.Verdict.Facts.ClaimOverlaps == 0 && (least == nil || s.Nearer(*least)) {
			least = &s
		}
	}
	if least == nil {
		return ""
	}
	return "nearest miss: " + least.Miss()
}

// Vacuous lists the reasons for which the label safe of a run proves little.
func Vacuous(o *outcome.Outcome) []string {
	var out []string
	for _, m := range Ran(o) {
		if !m.Verdict.Label.Clean() {
			continue
		}
		if m.Verdict.Facts.Contended == 0 {
			out = append(out, fmt.Sprintf("in mode %s no acquire was contended, so safe says nothing about exclusion.", m.Mode))
		}
		for i, f := range o.Scenario.Faults {
			if i < len(m.FaultsFired) && !m.FaultsFired[i] {
				out = append(out, fmt.Sprintf("in mode %s fault %d never struck (%v).", m.Mode, i+1, f))
			}
		}
		if m.PartialPause {
			out = append(out, fmt.Sprintf("in mode %s pauses were partial: that nothing went wrong under them proves "+
				"nothing.", m.Mode))
		}
	}
	return out
}
