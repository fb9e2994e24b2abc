package terminal

import (
	"fmt"
	"math"
	"strings"

	"locksim/internal/prose"
	"locksim/reports"
	"locksim/scenarios/outcome"
)

// causeBar is the length of the bar of a point at which every continuation ended badly.
const causeBar = 20

// cause is when the violation became inevitable: the sentence, and a line for each step that was measured.
func cause(o *outcome.Outcome, opt reports.Options) []string {
	c := o.Cause
	if c == nil {
		return nil
	}
	lines := []string{fmt.Sprintf("when it became inevitable, in mode %s", c.Mode)}
	lines = append(lines, prose.Fold(prose.Visible(c.Says), opt.Width)...)
	t := table{sides: []side{right, right, right, right, left}}
	t.row("step", "time", "ended badly", "95 % band", "")
	for _, p := range c.Points {
		t.row(fmt.Sprint(p.Step), fmt.Sprintf("%.3fs", p.Seconds), fmt.Sprintf("%d of %d", p.Bad, p.Runs), p.Band(),
			strings.Repeat("█", int(math.Round(p.Rate()*causeBar))))
	}
	lines = append(lines, t.lines(opt.Colour)...)
	return append(lines, prose.Fold(c.Method(), opt.Width)...)
}
