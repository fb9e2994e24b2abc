package locktest

import (
	"context"
	"errors"

	"locksim/lock"
)

// as returns the lock of client i for an owner, and skips the test if it is not reentrant.
func (s *trial) as(i int, owner string) lock.Locker {
	s.Helper()
	l, ok := s.locker(i).(lock.Owned)
	if !ok {
		s.Skip("the lock is no lock.Owned")
	}
	return l.As(owner)
}

// reentry enters twice, and leaves in both orders.
func reentry(s *trial) {
	for _, order := range []string{"the inner first", "the outer first"} {
		alice := s.as(0, "alice")
		outer := s.acquireBy(alice, 0)
		var inner grant
		s.prompt("entering again", func() { inner = s.acquireBy(alice, 0) })
		if inner.Token() != outer.Token() {
			s.Errorf("the inner entry has token %d, the outer %d", inner.Token(), outer.Token())
		}
		first, last := inner, outer
		if order == "the outer first" {
			first, last = outer, inner
		}
		s.release(first)
		if err := last.Context().Err(); err != nil && !last.over() {
			s.Errorf("%s: the release of one entry has ended the context of the other: %v", order, err)
		}
		s.wantHeldAgainst(last, s.as(1, "bob"), 1)
		s.release(last)
		s.wantFree(1)
		wantNothingLeft(s)
	}
}

// reentryByAnotherClient shows that the name alone identifies the owner, on any machine.
func reentryByAnotherClient(s *trial) {
	here := s.acquireBy(s.as(0, "alice"), 0)
	var there grant
	s.prompt("entering from another client", func() { there = s.acquireBy(s.as(1, "alice"), 1) })
	s.release(here)
	s.wantHeldAgainst(there, s.as(0, "bob"), 0)
	s.release(there)
	s.wantFree(0)
}

// ownersExcludeEachOther also tests plain Acquires, which never enter again (F32).
func ownersExcludeEachOther(s *trial) {
	g := s.acquireBy(s.as(0, "alice"), 0)
	s.wantHeldAgainst(g, s.as(0, "bob"), 0)
	s.wantHeld(g, 0)
	s.wantHeld(g, 1)
	s.release(g)
	g = s.acquire(0)
	s.wantHeldAgainst(g, s.as(0, "alice"), 0)
	s.wantHeld(g, 0)
	s.release(g)
}

// reentryReleaseAgain shows that a repeated release counts once.
func reentryReleaseAgain(s *trial) {
	alice := s.as(0, "alice")
	outer := s.acquireBy(alice, 0)
	inner := s.acquireBy(alice, 0)
	s.release(inner)
	s.again(inner)
	s.wantHeldAgainst(outer, s.as(1, "bob"), 1)
	s.release(outer)
}

// reentryAfterExpiry makes a grant with two entries expire; the same owner is then granted the lock again, which the
// old entries must not affect (F33).
func reentryAfterExpiry(s *trial) {
	alice := s.as(0, "alice")
	outer := s.acquireBy(alice, 0)
	inner := s.acquireBy(alice, 0)
	abandon(s, outer)
	abandon(s, inner)
	bob := s.acquireBy(s.as(1, "bob"), 1) // not before the servers have ended it
	s.release(bob)

	anew := s.acquireBy(alice, 0)
	if s.Tokens && anew.Token() <= outer.Token() {
		s.Errorf("token %d after a grant with token %d has expired", anew.Token(), outer.Token())
	}
	s.want("release of an expired inner entry", releaseConclusively(s, inner), lock.ErrNotHeld)
	s.want("release of an expired outer entry", releaseConclusively(s, outer), lock.ErrNotHeld)
	if err := context.Cause(anew.Context()); errors.Is(err, lock.ErrLost) && !anew.over() {
		s.Error("the new grant was lost with the old entries")
	}
	s.wantHeldAgainst(anew, s.as(1, "bob"), 1)
	s.release(anew)
	s.wantFree(1)
	wantNothingLeft(s)
}
