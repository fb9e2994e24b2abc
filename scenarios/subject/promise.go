package subject

import (
	"fmt"
	"maps"
	"slices"

	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/lock/promise"
)

// Promises reports whether the lock promises that claims exclude each other
// under every fault of a schedule. A lock without a promise promises nothing.
func (l Lock) Promises(schedule []faults.Fault) bool {
	return len(l.Promise.Exclusion) > 0 && len(l.Unpromised(schedule)) == 0
}

// Unpromised are the faults of a schedule under which the lock does not promise
// that claims exclude each other: the names of their classes, or of their kinds if
// they have no class in promises, each once, in the order of the schedule.
func (l Lock) Unpromised(schedule []faults.Fault) []string {
	return faults.Unpromised(l.Promise, schedule)
}

// JudgedBy is the promise that a lock is judged by: its own or, if it promises
// nothing but duties, these, liveness and right data under every fault. The data is then judged
// without a fence for a lock that mints no tokens, and in mode seal for a lock that
// does.
func (l Lock) JudgedBy() lock.Promise {
	if l.PromisesNothing() {
		p := l.DutiesAlone().Promise
		p.Data = string(l.JudgedMode())
		return p
	}
	return l.Promise
}

// DutiesAlone is the lock with no promise but its duties, so that it is judged on right
// data and liveness under every fault: see [Lock.JudgedBy].
func (l Lock) DutiesAlone() Lock {
	l.Promise = lock.Promise{Duties: l.Promise.Duties, ReturnsWithin: l.Promise.ReturnsWithin,
		TokensUnordered: l.Promise.TokensUnordered,
		SelfExcludes:    l.Promise.SelfExcludes, ResendExcludes: l.Promise.ResendExcludes}
	return l
}

// ClaimsAlone is the lock with the promise that claims never overlap, under every
// fault, and no other: the question that can be asked of every lock.
func (l Lock) ClaimsAlone() Lock {
	if own := l.Promise; l.own == nil {
		l.own = &own
	}
	l.Promise = lock.Promise{Exclusion: lock.Faults(), FreeWithin: lock.TermAnyTime, TokensUnordered: true,
		SelfExcludes: true}
	return l
}

// PromisesNothing reports whether the lock promises neither exclusion nor right data.
func (l Lock) PromisesNothing() bool { return len(l.Promise.Exclusion) == 0 && l.Promise.Data == "" }

// JudgedMode is the fencing mode in which a lock is judged: the one in which it
// promises right data, or else the strongest that it has tokens for.
func (l Lock) JudgedMode() fence.Mode {
	if mode, ok := l.DataMode(); ok {
		return mode
	}
	if l.Tokens {
		return fence.Seal
	}
	return fence.None
}

// DataMode is the fencing mode under which the lock promises right data; ok is
// false if it promises nothing about data.
func (l Lock) DataMode() (mode fence.Mode, ok bool) {
	mode, err := fence.ParseMode(l.Promise.Data)
	return mode, err == nil
}

// validatePromise refuses unknown words.
func validatePromise(p lock.Promise) error {
	for _, f := range p.Exclusion {
		if !slices.Contains(lock.Faults(), f) {
			return fmt.Errorf("the promise names the unknown fault %q: choose from %s", f, prose.Commas(lock.Faults()))
		}
	}
	if p.Data != "" {
		if _, err := fence.ParseMode(p.Data); err != nil {
			return fmt.Errorf("the promise about data: %w", err)
		}
	}
	if p.Unlocked && p.Data != string(fence.CAS) {
		return fmt.Errorf("the promise is Unlocked, and its Data is %q: without a lock only %s keeps the data right", p.Data,
			fence.CAS)
	}
	if free := termsOfKeys(); p.FreeWithin != "" && !slices.Contains(free, p.FreeWithin) {
		return fmt.Errorf("the promise is free again within %q: choose from %s", p.FreeWithin, prose.Commas(free))
	}
	for _, d := range p.Duties {
		if !slices.Contains(promise.Duties(), d) {
			return fmt.Errorf("the promise has the duty %q: choose from %s", d, prose.Commas(promise.Duties()))
		}
	}
	if returns := slices.Contains(p.Duties, promise.DutyReturns); returns && p.ReturnsWithin == "" {
		return fmt.Errorf("the promise has the duty %q, and no ReturnsWithin, by which it is judged", promise.DutyReturns)
	}
	if p.ReturnsWithin != "" && !slices.Contains(lock.Terms(), p.ReturnsWithin) {
		return fmt.Errorf("the promise returns within %q: choose from %s", p.ReturnsWithin, prose.Commas(lock.Terms()))
	}
	if p.Order != "" && p.Order != lock.FIFO {
		return fmt.Errorf("the promise is the order %q: choose %s", p.Order, lock.FIFO)
	}
	for _, c := range slices.Sorted(maps.Keys(p.FreeAfter)) {
		if !slices.Contains(promise.Causes(), c) {
			return fmt.Errorf("the promise is free again after %q: choose from %s", c, prose.Commas(promise.Causes()))
		}
		if term, free := p.FreeAfter[c], termsOfKeys(); !slices.Contains(free, term) {
			return fmt.Errorf("the promise is free again after %s within %q: choose from %s", c, term, prose.Commas(free))
		}
	}
	return nil
}

// termsOfKeys are the terms by which a lock may be free again: not those of a call, in
// which the key of a holder that is gone does not end.
func termsOfKeys() []lock.Term {
	return slices.DeleteFunc(lock.Terms(), func(t lock.Term) bool {
		return t == lock.TermReleaseTimeout ||
			t == lock.TermNodeTimeouts
	})
}

// DescribePromise is a promise in a sentence.
func DescribePromise(p lock.Promise) string {
	if len(p.Exclusion) == 0 {
		return "promises nothing"
	}
	text := "claims exclude each other under " + prose.Commas(p.Exclusion)
	switch {
	case p.Unlocked:
		text = "no exclusion promised: clients may work at once; data right in mode " + p.Data + " under " +
			prose.Commas(p.Exclusion)
	case p.Data != "":
		text += "; data right in mode " + p.Data
	}
	if p.SelfExcludes {
		text += "; a client may be kept out by its own key"
	} else if p.ResendExcludes {
		text += "; a client that sends requests again may be kept out by its own key"
	}
	if p.TokensUnordered {
		text += "; no order of its tokens"
	}
	if p.FreeWithin != "" {
		text += "; free again within " + string(p.FreeWithin)
	}
	if p.ReturnsWithin != "" {
		text += "; calls return within " + string(p.ReturnsWithin)
	}
	if len(p.Duties) > 0 {
		text += "; duties: " + prose.Commas(p.Duties)
	}
	return text
}

// OnlyClaims reports whether all that is asked of the lock is whether its claims overlap: see [Lock.ClaimsAlone].
func (l Lock) OnlyClaims() bool { return l.own != nil }

// Own is what a lock promises of which only the claims are judged: see [Lock.ClaimsAlone]; nil for any other.
func (l Lock) Own() *lock.Promise { return l.own }

// Runs reports whether the lock has runs in a fencing mode: those that compare tokens need a lock that mints some, and
// claim needs a lock.
func (l Lock) Runs(mode fence.Mode) bool {
	return (l.Tokens || !mode.NeedsToken()) && !(l.Promise.Unlocked && mode == fence.Claim)
}

// DefaultModes are the fencing modes that a run of a lock compares by default: none,
// and two that the lock can be used with. They are check and seal for a lock that
// mints tokens, and claim and cas for one that does not. Without a lock they are none and cas.
//
// For a lock whose store is under test it is the rule of that.
func DefaultModes(l Lock) []fence.Mode {
	if l.TestsFence() {
		return []fence.Mode{l.Data.Rule}
	}
	if l.Tokens {
		return []fence.Mode{fence.None, fence.Check, fence.Seal}
	}
	if l.Promise.Unlocked {
		return []fence.Mode{fence.None, fence.CAS}
	}
	return []fence.Mode{fence.None, fence.Claim, fence.CAS}
}
