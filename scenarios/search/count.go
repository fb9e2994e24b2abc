package search

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/tally"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// Tally counts the run alone.
func (t *Trial) Tally() tally.Tally {
	if t.Borne {
		return t.differing(t.Difference)
	}
	var n tally.Tally
	if t.Outcome != nil {
		n = t.ended()
	}
	if t.Difference != nil && !(len(t.Violations) > 0 && !kinds.Reserved(t.lock.Name)) {
		n.Add(t.Unsteady(t.Difference.Error()))
	}
	if t.Err != nil {
		n.Add(t.Failed(t.Err))
	}
	return n
}

func (t *Trial) ended() tally.Tally {
	m := &t.Outcome.Modes[0]
	one := tally.Tally{Runs: 1, Events: m.Events, Virtual: m.Virtual, Calls: m.Verdict.Facts.Calls,
		Errors: m.Verdict.Errors, Fenced: m.History.FenceTries(),
		NoticedLate: time.Duration(math.Round(m.Verdict.Facts.NoticedLateSeconds * float64(time.Second)))}
	if one.Connections, one.PerSecond = m.Load(); slices.ContainsFunc(t.Scenario.Faults, takesConnections) {
		one.Connections = 0
	}
	if t.Scenario.Store == "" && undisturbed(t.Scenario, m) {
		one.Undisturbed = 1
		if slices.ContainsFunc(m.History.Grants, saidNotHeld) {
			one.NotHeld = 1
		}
	}
	for _, what := range m.Unknown {
		one.Unknown = tally.AddCounts(one.Unknown, map[string]int{what: 1})
	}
	for path := range m.Rare.All() {
		one.Rare = tally.AddCounts(one.Rare, map[string]int{path.String(): 1})
	}
	if len(t.Violations) > 0 {
		one.Violating, one.Violations = 1, map[checker.Label]int{}
	}
	for _, v := range t.Violations {
		one.Violations[v.Label] = 1
	}
	if one.Violating == 0 && t.Vacuous != "" {
		one.Vacuous = map[string]int{t.Vacuous: 1}
	} else {
		one.Evidence = 1
	}
	if s, ok := m.Verdict.NearestMiss(); ok && one.Evidence > one.Violating {
		one.Nearest = &tally.NearMiss{Seed: t.Seed, Slack: s}
		if t.Placed != nil {
			one.Nearest.Faults = t.Placed.Faults
		}
	}
	classes := map[lock.Fault]tally.ClassTally{}
	for i, f := range t.Scenario.Faults {
		n := tally.FaultTally{Planned: 1}
		if m.FaultsFired[i] {
			n.Struck = 1
			if one.Faults[f.Action.Kind()].Violating == 0 {
				n.Violating = one.Violating
			}
			class := faults.ClassIn(t.Scenario.Faults, f.Action)
			c := classes[class]
			c.Struck = 1
			if i < len(m.FaultsFelt) && m.FaultsFelt[i] {
				n.Felt, c.Evidence, c.Violating = 1, one.Evidence, one.Violating
			}
			if class != "" {
				classes[class] = c
			}
		}
		one.Faults = tally.AddTallies(one.Faults, map[string]tally.FaultTally{f.Action.Kind(): n})
	}
	if len(classes) > 0 {
		one.Classes = classes
	}
	return one
}

// undisturbed reports whether no fault was felt in a run, and whether nothing in its scenario ends a Release, or a
// request of a lease, before it is answered.
func undisturbed(sc *file.Scenario, m *outcome.ModeRun) bool {
	w := sc.Workload
	return !slices.Contains(m.FaultsFelt, true) && sc.World.Skew == 0 && w.Request == 0 && w.ExtendWithin == 0 &&
		w.ReleaseWithin == 0 &&
		w.Release != file.ReleaseRetried && w.Release != file.ReleaseLater
}

// takesConnections reports whether other work of a process takes connections of a pool, which makes new ones then.
func takesConnections(f faults.Fault) bool { return f.Action.Kind() == exhaustPool }

// saidNotHeld reports whether the Release of a grant returned that the lock was not held, although its lease had not
// ended.
func saidNotHeld(g checker.Grant) bool {
	return g.ReleaseNotHeld && (g.Until == 0 || g.Claim().End != g.Until)
}

// Unsteady counts a case whose runs differed; why describes the difference.
func (c Case) Unsteady(why string) tally.Tally {
	return tally.Tally{Nondeterministic: 1, Unsteady: c.bad(why)}
}

// differing counts a case whose runs differ, which the search bears.
func (c Case) differing(d *play.NondeterminismError) tally.Tally {
	r := c.bad(d.Place())
	r.All = d.Error()
	return tally.Tally{Differing: 1, Unequal: r}
}

// Failed counts a run that did not end, or has no verdict.
func (c Case) Failed(err error) tally.Tally {
	if why := NoVerdict(err); why != "" {
		return tally.Tally{NoVerdict: 1, Unjudged: c.bad(why)}
	}
	return tally.Tally{Failed: 1, Broken: c.bad(err.Error())}
}

func (c Case) bad(why string) *tally.BadRun {
	r := &tally.BadRun{Seed: c.Seed, Why: why}
	if c.Placed != nil {
		r.Faults = c.Placed.Faults
	}
	return r
}

// Course is the class of the run, which must have ended.
func (t *Trial) Course() tally.Course {
	m := &t.Outcome.Modes[0]
	var parts []string
	for i, f := range t.Scenario.Faults {
		if i < len(m.FaultsFelt) && m.FaultsFelt[i] {
			class := string(faults.ClassIn(t.Scenario.Faults, f.Action))
			parts = append(parts, "felt "+cmp.Or(class, f.Action.Kind()))
		}
	}
	before := map[string]string{} // the last step of each client
	for _, e := range m.Trace.Events {
		mark, ok := e.What.(trace.Mark)
		if !ok || mark.Step == trace.Point {
			continue
		}
		step := mark.Step.String()
		if mark.Problem != "" {
			step += " failed " + mark.Outcome
		}
		parts = append(parts, "moved "+before[e.Actor]+" to "+step)
		before[e.Actor] = step
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(parts), "\n")))
	return tally.Course(hex.EncodeToString(sum[:4]))
}

// Courses is the course of a run that is evidence and has passed, and nothing of any other.
func (t *Trial) Courses() tally.Courses {
	if t.Err == nil && t.Difference == nil && len(t.Violations) == 0 && t.Vacuous == "" {
		return tally.Courses{t.Course(): 1}
	}
	return nil
}
