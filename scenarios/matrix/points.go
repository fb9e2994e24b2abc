package matrix

import (
	"fmt"
	"slices"
	"strings"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// pointsOf are the named points at which faults of a scenario strike, each once.
// The events of the driver are none of them: clients pass these with every lock
// that grants.
func pointsOf(sc *file.Scenario) []string {
	var out []string
	for _, f := range sc.Faults {
		if f.When != nil && !slices.Contains(faults.Events(), f.When.Name) && !slices.Contains(out, f.When.Name) {
			out = append(out, f.When.Name)
		}
	}
	return out
}

// passed are those of some points that a client passed in a run.
func passed(points []string, m *outcome.ModeRun) []string {
	var out []string
	if len(points) == 0 {
		return out
	}
	for _, e := range m.Trace.Events {
		mark, ok := e.What.(trace.Mark)
		if ok && e.Actor != trace.Probe && slices.Contains(points, mark.Name()) && !slices.Contains(out, mark.Name()) {
			out = append(out, mark.Name())
		}
	}
	return out
}

func (t *Tally) addPoints(points []string) {
	for _, point := range points {
		if !slices.Contains(t.Points, point) {
			t.Points = append(t.Points, point)
		}
	}
	slices.Sort(t.Points)
}

// addCalmPoints adds to the tallies of a job the points that clients pass in a run
// without faults, if there are points that they passed in no run with them: a fault
// that strikes earlier may keep a client from a point that the lock has.
func (j Job) addCalmPoints(sc *file.Scenario, l subject.Lock, tallies []Tally) error {
	if len(tallies) == 0 || len(unpassed(sc, tallies)) == 0 {
		return nil
	}
	calm := *sc
	calm.Faults = nil
	o, err := play.Run(&calm, l, play.RunOptions{Seed: j.Seeds.First, Modes: j.Modes[:1]})
	if err != nil {
		return err
	}
	tallies[0].addPoints(passed(pointsOf(sc), &o.Modes[0]))
	return nil
}

// unpassed are the named points at which faults of a scenario strike and that no
// client passed in any of the runs.
func unpassed(sc *file.Scenario, tallies []Tally) []string {
	return slices.DeleteFunc(pointsOf(sc), func(point string) bool {
		return slices.ContainsFunc(tallies, func(t Tally) bool { return slices.Contains(t.Points, point) })
	})
}

// leftOut says why a pair has no cells although it was played: a fault of the
// scenario strikes at a named point of other locks. A scenario that names the lock
// is not left out, since the point is a mistake there. A result other than safe is
// part of the reason: it is that of the lock without the fault.
func (p pair) leftOut(tallies []Tally) string {
	if p.named || len(tallies) == 0 {
		return ""
	}
	points := unpassed(p.scenario, tallies)
	if len(points) == 0 {
		return ""
	}
	noun := "point"
	if len(points) > 1 {
		noun = "points"
	}
	text := fmt.Sprintf("a fault strikes at the %s %s, which this lock does not pass", noun, prose.Commas(points))
	var seen []string
	for _, t := range tallies {
		if label := t.Seen[0].Label; !label.Clean() {
			seen = append(seen, fmt.Sprintf("%s in mode %s", label, t.Mode))
		}
	}
	if len(seen) > 0 {
		text += "; without it: " + strings.Join(seen, ", ")
	}
	return text
}
