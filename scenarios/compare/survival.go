package compare

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome/comparisons"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// reference is the lock whose promise says which faults are not the cause of a harm
// if they strike together with others: the faults that every lock with a lease on
// one correct node survives.
const reference = "single"

// byClass are the scenarios for each class: those with faults of that class alone,
// or together with others that the promise of the reference covers. In a scenario
// with faults of two other classes the cause of a harm would not be known.
// Scenarios that use a lock against its terms are left out too: sections of several
// writes, which no fence makes atomic (F73), one owner id for all (F31), and clients that
// compute a value without a second look. So are those whose clients try, in place of waiting: not all locks can, and
// what a try leaves behind says nothing of an Acquire.
func byClass(library []*file.Scenario) (map[lock.Fault][]*file.Scenario, error) {
	single, err := redislocks.Kind(reference)
	if err != nil {
		return nil, err
	}
	all := map[lock.Fault][]*file.Scenario{}
	for _, sc := range library {
		w := sc.Workload
		if len(w.Writes()) > 1 || sc.Lock.Owner == file.OwnerShared || w.LooksOnce() || w.Tries {
			continue
		}
		names := single.Unpromised(sc.Faults)
		switch {
		case len(sc.Faults) == 0:
			names = []string{string(comparisons.NoFault)}
		case len(names) == 0:
			names = subject.Lock{}.Unpromised(sc.Faults) // all of its classes
		case len(names) > 1:
			names = nil
		}
		for _, name := range names {
			all[lock.Fault(name)] = append(all[lock.Fault(name)], sc)
		}
	}
	return all, nil
}

// isOf reports whether a fault of a schedule is of a class, or of the kind of that name where it has no class. A drift
// is of both classes of drifts.
func isOf(schedule []faults.Fault, f faults.Fault, class lock.Fault) bool {
	if _, drifts := f.Action.(faults.ClockDrift); drifts {
		return class == lock.FaultClockDrift || class == lock.FaultClockRate
	}
	return cmp.Or(faults.ClassIn(schedule, f.Action), lock.Fault(f.Action.Kind())) == class
}

// trials are the runs of one lock. Each is made once, also if it counts for several
// classes.
type trials struct {
	lock  subject.Lock
	opt   Options
	asked map[string]bool // the servers to which the lock sends requests, and the store
	made  map[trial]result
}

// trial is one run, in which the faults of a class may be left out.
type trial struct {
	scenario string
	mode     fence.Mode
	seed     uint64
	without  lock.Fault
}

// result is what the comparison reads from a run.
type result struct {
	label   checker.Label
	overlap bool // the claims of two clients overlapped
	struck  bool // every fault struck, and not only servers that the lock does not use
	tested  bool // clients contended, and no pause was partial
	misfit  bool // the lock does not suit the scenario
}

// failed reports wrong data, undecided data, or a stuck lock.
func (r result) failed() bool {
	return r.label == checker.Corrupted || r.label == checker.Unknown || r.label == checker.Stuck
}

// refused reports whether the fence refused a rightful holder, and nothing is worse.
func (r result) refused() bool { return r.label == checker.FalseReject }

func (r result) harm() bool { return r.failed() || r.refused() }

// survival finds the weakest fence for a class, in all scenarios, also in those that do not name the lock. It tries the
// modes in their order, and each until a run fails. Without a fence it goes on until claims overlap as well.
func (t *trials) survival(class lock.Fault, scenarios []*file.Scenario) (comparisons.Survival, error) {
	s := comparisons.Survival{Class: class, Promised: t.promises(class), Others: []comparisons.Seen{}}
	counted := map[string]bool{}
	var second *comparisons.Seen // the first mode that failed in no run, and refused a rightful holder
	for _, mode := range t.modes() {
		var failed, refused *comparisons.Seen
		for _, sc := range scenarios {
			for seed := range t.opt.Seeds.All() {
				if failed != nil && (mode != fence.None || s.Overlap != nil) {
					break
				}
				r, counts, err := t.counted(class, sc, mode, seed)
				if err != nil {
					return s, err
				}
				if !counts {
					continue
				}
				s.Runs++
				counted[sc.Name] = true
				name := nameOf(sc)
				seen := &comparisons.Seen{Mode: mode, Label: r.label, Scenario: name, Seed: seed,
					Replay: t.opt.Replay(name, t.lock.Name, seed, mode)}
				if r.failed() && failed == nil {
					failed = seen
				}
				if r.refused() && refused == nil {
					refused = seen
				}
				if r.overlap && s.Overlap == nil {
					s.Overlap = seen
				}
			}
		}
		s.Scenarios = len(counted)
		switch {
		case s.Scenarios == 0:
			return s, nil
		case failed != nil:
			s.Others = append(s.Others, *failed)
		case refused == nil:
			s.Fence = mode
			if second != nil {
				s.Others = append(s.Others, *second)
			}
			return s, nil
		case second == nil:
			second = refused
		default:
			s.Others = append(s.Others, *refused)
		}
	}
	if second != nil {
		s.Fence, s.Refused = second.Mode, second
	}
	return s, nil
}

// nameOf is what a command calls a scenario: its name, or its file where it is not in the library.
func nameOf(sc *file.Scenario) string {
	if sc.InLibrary() {
		return sc.Name
	}
	return sc.File
}

// promises reports whether the lock promises that claims exclude each other under
// this class.
func (t *trials) promises(class lock.Fault) bool {
	if class == comparisons.NoFault {
		return len(t.lock.Promise.Exclusion) > 0
	}
	return slices.Contains(t.lock.Promise.Exclusion, class)
}

// counted is a run, and whether it counts for a class. Every fault has to strike. A
// run without harm counts if clients contended, one with harm if the class is its
// cause.
func (t *trials) counted(class lock.Fault, sc *file.Scenario, mode fence.Mode,
	seed uint64) (r result, counts bool, err error) {
	one := trial{scenario: sc.Name, mode: mode, seed: seed}
	if r, err = t.run(sc, one); err != nil || r.misfit || !r.struck {
		return r, false, err
	}
	if r.overlap && class != comparisons.NoFault {
		one.without = class
		other, err := t.run(sc, one)
		if err != nil {
			return r, false, err
		}
		r.overlap = !other.overlap
	}
	if !r.harm() {
		return r, r.tested || r.overlap, nil
	}
	counts, err = t.causes(class, sc, seed)
	return r, counts, err
}

// causes reports whether a class is the cause of the harm in a scenario: there is a
// fence behind which there is no harm without the faults of the class. Otherwise
// the other faults alone need as strong a fence, or the workload does: a lock with
// a lease of two seconds loses data in a section of nine without any fault.
func (t *trials) causes(class lock.Fault, sc *file.Scenario, seed uint64) (bool, error) {
	if class == comparisons.NoFault {
		return true, nil
	}
	for _, mode := range t.modes() {
		one := trial{scenario: sc.Name, mode: mode, seed: seed}
		with, err := t.run(sc, one)
		if err != nil {
			return false, err
		}
		if !with.harm() {
			continue
		}
		one.without = class
		without, err := t.run(sc, one)
		if err != nil || !without.harm() {
			return err == nil, err
		}
	}
	return false, nil
}

// modes are the fencing modes in which the lock can run. Where there is no lock, there is none without the comparison:
// whatever is written then is written over, and a fault that does no more harm than that has shown nothing.
func (t *trials) modes() []fence.Mode {
	return slices.DeleteFunc(fence.Modes(), func(m fence.Mode) bool {
		return !t.lock.Runs(m) || t.lock.Promise.Unlocked && m == fence.None
	})
}

func (t *trials) run(sc *file.Scenario, one trial) (result, error) {
	if r, ok := t.made[one]; ok {
		return r, nil
	}
	if one.without != "" {
		rest := *sc
		rest.Faults = slices.DeleteFunc(slices.Clone(sc.Faults),
			func(f faults.Fault) bool { return isOf(sc.Faults, f, one.without) })
		sc = &rest
	}
	m, err := t.opt.Play(sc, t.lock, one.seed, one.mode)
	var r result
	_, misfit := errors.AsType[*file.InputError](err)
	switch {
	case misfit && !slices.Contains(sc.LockNames(), t.lock.Name), errors.Is(err, faults.ErrUnable):
		r = result{misfit: true}
	case err != nil:
		return r, err
	case m.History.Entry == checker.EntryOwnerless: // which is against the terms of the lock
		r = result{misfit: true}
	default:
		r = result{label: m.Verdict.Label, overlap: m.Verdict.Facts.ClaimOverlaps > 0,
			struck: !slices.Contains(m.FaultsFired, false) && t.concerns(m.Trace), tested: m.Verdict.Facts.Contended > 0 &&
				!m.PartialPause}
	}
	t.made[one] = r
	if t.opt.Step != nil {
		t.opt.Step()
	}
	return r, nil
}

// concerns reports whether a fault struck a server to which the lock sends
// requests, or the store, or none struck a server: a lock on servers of its own
// kind does not depend on Redis. A replica, such as r0a, counts as its primary.
func (t *trials) concerns(run *trace.Trace) bool {
	clients := map[string]bool{}
	for _, e := range run.Events {
		if _, ok := e.What.(trace.Mark); ok {
			clients[e.Actor] = true
		}
	}
	missed := false
	for _, e := range run.Events {
		if e.Actor != trace.World {
			continue
		}
		for _, name := range trace.Parties(e) {
			switch {
			case clients[name]:
			case t.asked[name], t.asked[strings.TrimRight(name, "abc")]:
				return true
			default:
				missed = true
			}
		}
	}
	return !missed
}
