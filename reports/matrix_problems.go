package reports

import (
	"fmt"
	"strings"

	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/scenarios/matrix"
)

// complaint is what is wrong with a cell, or with several modes of one scenario
// and lock alike.
type complaint struct {
	cell   matrix.Cell // the first
	modes  []fence.Mode
	replay string // empty when nothing was run
}

// complaints are the cells that differ from what is expected or are vacuous.
func complaints(m *matrix.Matrix) []complaint {
	var all []complaint
	for _, c := range m.Problems() {
		if n := len(all) - 1; n >= 0 && all[n].covers(c) {
			all[n].modes = append(all[n].modes, c.Mode)
			all[n].replay += "," + string(c.Mode)
			continue
		}
		all = append(all, complaint{cell: c, modes: []fence.Mode{c.Mode}, replay: replayOf(c)})
	}
	return all
}

// covers reports whether another mode has the same to be said of it: with the
// same seed, so that one command, which ends with the modes, replays both.
func (p complaint) covers(c matrix.Cell) bool {
	return c.Scenario == p.cell.Scenario && c.Lock == p.cell.Lock && c.Problem() == p.cell.Problem() && kOfN(c) == kOfN(p.cell) &&
		c.CellRuns != nil && c.Seed == p.cell.Seed && strings.HasSuffix(p.replay, string(p.modes[len(p.modes)-1]))
}

func replayOf(c matrix.Cell) string {
	if c.CellRuns == nil {
		return ""
	}
	return c.Replay
}

func (p complaint) String() string {
	mode := "mode"
	if len(p.modes) > 1 {
		mode = "modes"
	}
	return fmt.Sprintf("%s, lock %s, %s %s: %s%s", p.cell.Scenario, p.cell.Lock, mode, prose.Commas(p.modes), p.cell.Problem(), p.figures())
}

func (p complaint) figures() string {
	if p.cell.CellRuns == nil {
		return ""
	}
	return fmt.Sprintf(" (%s %s)", p.cell.Label, kOfN(p.cell))
}

// kOfN is how many seeds of how many show the label.
func kOfN(c matrix.Cell) string {
	if c.CellRuns == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.SeedsWithLabel, c.Seeds)
}

// problems are the complaints, each with its replay command.
func problems(m *matrix.Matrix, opt Options) []string {
	var lines []string
	for _, p := range complaints(m) {
		lines = append(lines, prose.Fold(prose.Visible(p.String()), opt.Width)...)
		if p.replay != "" {
			lines = append(lines, "    "+p.replay)
		}
	}
	return titled(opt, "NOT AS EXPECTED", lines)
}

// failures are the pairs that the harness could not run to their end.
func failures(m *matrix.Matrix, opt Options) []string {
	var lines []string
	for _, f := range m.Failures {
		lines = append(lines, fmt.Sprintf("%s, lock %s:", f.Scenario, f.Lock))
		for line := range strings.Lines(f.Why) {
			lines = append(lines, "    "+prose.Visible(strings.TrimRight(line, "\n")))
		}
		lines = append(lines, "    "+f.Replay)
	}
	return titled(opt, "FAILED", lines)
}

// notRun are the pairs that cannot be run, and why.
func notRun(m *matrix.Matrix, opt Options) []string {
	var lines []string
	for _, f := range m.NotRun {
		why, _, _ := strings.Cut(f.Why, "\n")
		lines = append(lines, prose.Fold(prose.Visible(fmt.Sprintf("Not run: %s with lock %s: %s", f.Scenario, f.Lock, why)), opt.Width)...)
	}
	return lines
}

func titled(opt Options, title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{opt.Colour.paint(alarm, title)}, lines...)
}
