package reviews

import (
	"cmp"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/matrices"
)

// Weakest is the weakest fence behind which the lock was right in the scenarios whose only
// faults are of a class, and the number of these scenarios: fence.None if it was right
// without one, "" if it was wrong behind every fence or there are no such scenarios. "" as
// the class stands for scenarios without a fault. Scenarios in which the client makes a
// mistake do not count.
func (r *Review) Weakest(class promise.Fault) (mode fence.Mode, scenarios int) {
	var want []promise.Fault
	if class != "" {
		want = []promise.Fault{class}
	}
	wrong, tried := map[fence.Mode]bool{}, map[fence.Mode]bool{}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if s.Client != "" || !slices.Equal(s.Classes, want) {
			continue
		}
		scenarios++
		for _, c := range s.Cells {
			if c.CellRuns != nil {
				tried[c.Mode], wrong[c.Mode] = true, wrong[c.Mode] || harmful(c.Label)
			}
		}
	}
	for _, mode := range fence.Modes() {
		if tried[mode] && !wrong[mode] {
			return mode, scenarios
		}
	}
	return "", scenarios
}

// OfEveryLease reports whether a harm in a scenario is one that no lock with a lease can
// prevent: the lock keeps its promise, and the fence in which it is judged rescues the data.
func (r *Review) OfEveryLease(s *Scenario) bool {
	return r.Lock.Promises && s.Ground == GroundPromised && s.Effect(r.Lock.Judged) == FenceRescues
}

// Worst is the run of the worst failure of a lock, which a review shows first. One of
// Failure and Scenario is nil.
type Worst struct {
	Failure  *Failure
	Scenario *Scenario
	// Mode is the fencing mode of the run, Label its label and Seed its seed.
	Mode  fence.Mode
	Label checker.Label
	Seed  uint64
}

// Worst is the worst failure: first what breaks the promise of the lock, then what is worst
// for the data behind the fence in which the lock is judged, then without a fence. What
// breaks every lock with a lease comes last, and mistakes of clients do not count. It is nil
// if nothing broke the lock.
func (r *Review) Worst() *Worst {
	var found *Worst
	if len(r.Failures) > 0 {
		f := &r.Failures[0]
		found = &Worst{Failure: f, Mode: f.Violations[0].Mode, Label: f.Label(), Seed: f.Seed}
		if f.From == FromPromise || !r.Lock.Promises {
			return found
		}
	}
	var own, lease *Worst
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		if s.Client != "" || !s.Harmful() {
			continue
		}
		kept := &own
		if r.OfEveryLease(s) {
			kept = &lease
		}
		if w := r.worstOf(s); w != nil && (*kept == nil || r.compare(w, *kept) > 0) {
			*kept = w
		}
	}
	switch {
	case own == nil && found == nil:
		return lease
	case own == nil || found != nil && r.compare(found, own) >= 0:
		return found
	}
	return own
}

// worstOf is the run of a scenario in the mode in which the lock is judged if it ended with
// a harm, and otherwise without a fence; nil if neither did.
func (r *Review) worstOf(s *Scenario) *Worst {
	for _, mode := range []fence.Mode{r.Lock.Judged, fence.None} {
		i := slices.IndexFunc(s.Cells, func(c matrices.Cell) bool { return c.Mode == mode && c.CellRuns != nil })
		if i >= 0 && harmful(s.Cells[i].Label) {
			return &Worst{Scenario: s, Mode: mode, Label: s.Cells[i].Label, Seed: s.Cells[i].Seed}
		}
	}
	return nil
}

// compare is above 0 if a is worse than b.
func (r *Review) compare(a, b *Worst) int {
	promised := func(w *Worst) int { return oneIf(w.Scenario != nil && w.Scenario.Ground == GroundPromised) }
	judged := func(w *Worst) int { return oneIf(w.Mode == r.Lock.Judged && harmful(w.Label)) }
	return cmp.Or(cmp.Compare(promised(a), promised(b)), cmp.Compare(judged(a), judged(b)),
		cmp.Compare(a.Label.Severity(), b.Label.Severity()))
}
