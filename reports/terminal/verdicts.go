package terminal

import (
	"fmt"
	"strings"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/reports"
	"locksim/reports/scene"
	"locksim/scenarios/outcome"
)

// verdicts is the table of the modes, and below it what is not as expected.
func verdicts(o *outcome.Outcome, opt reports.Options) []string {
	t := table{sides: []side{left, left, left, right, right, left, right, right, right, right, right}}
	time := "virtual"
	if o.Live != nil {
		time = "real"
	}
	t.row("mode", "verdict", "expected", "overlaps", "stale", "data", "contended", "faults", "longest", "events", time)
	t.row("", "", "", "claim/belief", "taken/refused", "", "acquires", "struck", "wait", "", "time")
	for _, m := range o.Modes {
		t.rows = append(t.rows, verdict(o, m))
	}
	return append(t.lines(opt.Colour), remarks(o, opt)...)
}

func verdict(o *outcome.Outcome, m outcome.ModeRun) []cell {
	expected := prose.Nothing
	if label, ok := o.Expected(m.Mode); ok {
		expected = string(label)
	}
	row := []cell{{text: string(m.Mode)}, {text: string(m.Verdict.Label), style: styleOf(m.Verdict.Label)},
		{text: expected}}
	for _, text := range scene.Figures(m) {
		row = append(row, cell{text: text})
	}
	return row
}

// remarks are facts that the table does not show.
func remarks(o *outcome.Outcome, opt reports.Options) []string {
	var lines []string
	for _, mismatch := range o.Mismatches() {
		folded := prose.Fold("UNEXPECTED: "+mismatch.String(), opt.Width)
		folded[0] = paint(opt.Colour, alarm, "UNEXPECTED") + strings.TrimPrefix(folded[0], "UNEXPECTED")
		lines = append(lines, folded...)
	}
	if len(o.Scenario.Expect[o.Lock]) == 0 {
		lines = append(lines, fmt.Sprintf("The scenario says nothing about what to expect of lock %s.", o.Lock))
	}
	for _, m := range o.Modes {
		if m.PartialPause {
			lines = append(lines, fmt.Sprintf("Mode %s, pause: partial. The lock acted during a pause, through timers that no "+
				"seam holds.", m.Mode))
		}
		if m.Verdict.Label == checker.NotApplicable {
			lines = append(lines, fmt.Sprintf("Mode %s needs fencing tokens, and lock %s mints none.", m.Mode, o.Lock))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}
