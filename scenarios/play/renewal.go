package play

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// Renews reports whether the lock renews its lease by itself in the servers of a scenario: it promises so, or a run
// without faults has shown it, in which a client has the lock for three times as long as its key, or its lease, lasts.
// Of a lock whose lease is counted from its call nothing is learnt, and of one that comes with locksim what it promises
// is all. Errors are those of [Learn].
func Renews(l subject.Lock, sc *file.Scenario) (bool, error) {
	l, err := l.In(sc)
	if err != nil {
		return false, err
	}
	if err := l.Missing(); err != nil {
		return false, err
	}
	l, err = renewing(l, sc)
	return slices.Contains(l.Promise.Duties, promise.DutyRenews), err
}

// renewing is a lock that is about to be played, with the duty to renew its leases if it was seen to do so.
func renewing(l subject.Lock, sc *file.Scenario) (subject.Lock, error) {
	if l.OnlyClaims() || l.Lease == subject.LeaseCounted || slices.Contains(l.Promise.Duties, promise.DutyRenews) ||
		kinds.Reserved(l.Name) {
		return l, nil
	}
	setting := lesson(sc, renewalLesson)
	setting.World.Replicas = l.LeastReplicas()
	renews, err := remembered(l, setting, func() (bool, error) { return outlasts(l, setting) })
	if renews {
		l.Promise.Duties = append(slices.Clone(l.Promise.Duties), promise.DutyRenews)
	}
	return l, err
}

const (
	// renewalLesson is the resource that is held for long.
	renewalLesson = "held for long"
	// renewalTerms is for how many lengths of its lease it is held.
	renewalTerms = 3
	// longestTerm is the longest length of a lease for which that is tried: a longer one is meant to be left behind.
	longestTerm = time.Hour
)

// remembered is what study has found out in a setting, once for all runs that share the cache of the lock.
func remembered(l subject.Lock, setting *file.Scenario, study func() (bool, error)) (bool, error) {
	known := subject.Shared[lessons](l)
	if known == nil {
		return study()
	}
	name := lessonName(l, setting)
	known.mu.Lock()
	defer known.mu.Unlock()
	if renews, ok := known.renews[name]; ok {
		return renews, nil
	}
	renews, err := study()
	if err != nil {
		return false, err
	}
	if known.renews == nil {
		known.renews = map[string]bool{}
	}
	known.renews[name] = renews
	return renews, nil
}

// outlasts makes the run. What is wrong with the lock is left to the runs that judge it.
func outlasts(l subject.Lock, setting *file.Scenario) (renews bool, err error) {
	s := &student{play: newPlay(setting, taught{Lock: l}), resource: setting.Workload.Resources[0]}
	err = s.simulate(10*lessonWait+renewalTerms*longestTerm, func(w Stage) (err error) {
		s.world = w
		renews, err = s.holds(w.Clients()[0])
		return err
	})
	if frozen, ok := errors.AsType[*Frozen](err); ok {
		return false, fmt.Errorf("lock %s, in a run without faults that is to show whether it renews its lease: %w", l.Name,
			frozen)
	}
	return renews && err == nil, nil
}

// holds lets a client have the lock for several lengths of its lease, and reports whether it still has it then.
func (s *student) holds(m Machine) (renews bool, err error) {
	c := learner{proc: m}
	m.Go(func() { c.locker, err = s.newLocker(m) })
	if failed := s.world.RunUntil(s.world.Idle); failed != nil || err != nil {
		return false, errors.Join(failed, err)
	}
	before := s.keys()
	lease, end, err := s.acquire(c)
	if err != nil {
		return false, err
	}
	defer end()
	set := slices.DeleteFunc(s.keys(), func(k trace.Key) bool {
		return k.TTL <= 0 || k.TTL > longestTerm ||
			slices.ContainsFunc(before, func(old trace.Key) bool { return old.Name == k.Name })
	})
	var term time.Duration
	for _, k := range set {
		term = max(term, k.TTL)
	}
	tells := s.lock.Lease == "" || s.lock.Lease == subject.LeaseUntil
	if term == 0 && tells {
		term = s.left(m, lease.Until)
	}
	if term <= 0 || term > longestTerm {
		return false, nil
	}
	if err := s.pass(renewalTerms * term); err != nil {
		return false, err
	}
	renews = true
	select {
	case <-lease.Lost():
		renews = false
	default:
	}
	if tells {
		renews = renews && s.left(m, lease.Until) > 0
	}
	now := s.keys()
	for _, k := range set {
		renews = renews && slices.ContainsFunc(now, func(later trace.Key) bool { return later.Name == k.Name })
	}
	m.Go(func() { _ = lease.Release(m.Context()) })
	return renews, s.world.RunUntil(s.world.Idle)
}

// left is how long a lease lasts yet by the clock of its holder.
func (s *student) left(m Machine, until func() time.Time) (left time.Duration) {
	m.View().Look(func() { left = until().Sub(m.Clock().Now()) })
	return left
}

// keys are all keys, on whichever server.
func (s *student) keys() []trace.Key {
	var all []trace.Key
	for _, server := range s.world.Ground().Servers() {
		all = append(all, server.Keys...)
	}
	return all
}
