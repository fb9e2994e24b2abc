package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/lock/promise"
)

// The instant of position n is n seconds. Two seconds are the grace.
func TestIdle(t *testing.T) {
	failed := func(g Grant) Grant { g.ReleaseFailed = true; return g }
	at := func(from, to int) Span {
		return Span{time.Duration(from) * time.Second, time.Duration(to) * time.Second}
	}
	asks := func(client string, from, to Pos, o Outcome) []Attempt {
		return []Attempt{{Client: client, Resource: "orders", Invoked: from, Returned: to, Outcome: o}}
	}
	gaveUp := func(from, to Pos, ended time.Duration) []Attempt {
		all := asks("c0", from, to, OutcomeFailed)
		all[0].ContextEnded = ended * time.Second
		return all
	}
	for _, c := range []struct {
		name     string
		grants   []Grant
		attempts []Attempt
		away     map[string][]Absence
		idle     float64
		overdue  int
	}{
		{name: "granted at once", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 12, 20).asked(4)}},
		{name: "granted late", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 20, 30).asked(4)}, idle: 7, overdue: 1},
		{name: "nobody asks", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 20, 30)}},
		{name: "two wait", idle: 7, overdue: 2,
			grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 20, 30).asked(4), held(3, "c2", 32, 40).asked(5)}},
		{name: "another believes", grants: []Grant{held(1, "c0", 2, 30).until(8, 0), held(2, "c1", 28, 40).asked(4)}},
		{name: "a release is pending", grants: []Grant{releasing(held(1, "c0", 2, 10), 12), held(2, "c1", 14, 30).asked(4)}},
		{name: "a release is pending for too long", grants: []Grant{releasing(held(1, "c0", 2, 10), 20),
			held(2, "c1", 21, 30).asked(4)}, overdue: 1},
		{name: "a release is pending of a client that is away", grants: []Grant{releasing(held(1, "c0", 2, 10), 20),
			held(2, "c1", 21, 30).asked(4)},
			away: map[string][]Absence{"c0": {{Span: at(12, 19)}}}},
		{name: "the holder crashed in its release", idle: 16, overdue: 1,
			grants: []Grant{releasing(held(1, "c0", 2, 8), 0).crashed(10), held(2, "c1", 28, 30).asked(4)}},
		{name: "the holder crashed", grants: []Grant{held(1, "c0", 2, 0).crashed(10), held(2, "c1", 17, 30).asked(4)},
			idle: 5},
		{name: "the holder crashed just not too long ago", idle: 10,
			grants: []Grant{held(1, "c0", 2, 0).crashed(10), held(2, "c1", 22, 30).asked(4)}},
		{name: "the holder crashed a little too long ago", idle: 11, overdue: 1,
			grants: []Grant{held(1, "c0", 2, 0).crashed(10), held(2, "c1", 23, 30).asked(4)}},
		{name: "a message of the other was held for just not too long", idle: 22,
			grants: []Grant{held(1, "c1", 34, 40).asked(4)}, attempts: asks("c0", 2, 10, OutcomeUnknown),
			away: map[string][]Absence{"c0": {{Span: at(2, 22)}}}},
		{name: "a message of the other was held for a little too long", idle: 23, overdue: 1,
			grants: []Grant{held(1, "c1", 35, 40).asked(4)}, attempts: asks("c0", 2, 10, OutcomeUnknown),
			away: map[string][]Absence{"c0": {{Span: at(2, 22)}}}},
		{name: "the holder crashed long ago", grants: []Grant{held(1, "c0", 2, 0).crashed(10),
			held(2, "c1", 28, 30).asked(4)}, idle: 16, overdue: 1},
		{name: "the release failed", grants: []Grant{failed(held(1, "c0", 2, 10)), held(2, "c1", 17, 30).asked(4)}, idle: 4},
		{name: "a reply about another lock was lost", grants: []Grant{held(1, "c1", 16, 30).asked(4)}, idle: 10, overdue: 1,
			attempts: []Attempt{{Client: "c0", Resource: "stock", Invoked: 4, Returned: 5, Outcome: OutcomeUnknown}}},
		{name: "another lock is asked for", grants: []Grant{held(1, "c0", 2, 10)}, idle: 8, overdue: 1,
			attempts: []Attempt{{Client: "c1", Resource: "stock", Invoked: 50, Outcome: OutcomeUnknown}}},
		{name: "the context of the one that waits ended in time", attempts: gaveUp(2, 20, 4)},
		{name: "the context of the one that waits ended too late", attempts: gaveUp(2, 20, 9), idle: 5, overdue: 1},
		{name: "a reply was lost", grants: []Grant{held(1, "c1", 16, 30).asked(3)},
			attempts: asks("c0", 2, 4, OutcomeUnknown), idle: 11},
		{name: "a reply was lost too late", grants: []Grant{held(1, "c1", 20, 30).asked(4)},
			attempts: asks("c0", 5, 7, OutcomeUnknown), idle: 14, overdue: 1},
		{name: "another gave up", grants: []Grant{held(1, "c1", 20, 30).asked(4)}, attempts: asks("c0", 2, 4, OutcomeFailed),
			idle: 14, overdue: 1},
		{name: "each of three releases failed at the deadline of the one before", grants: []Grant{failed(held(1, "c0", 2, 3)),
			held(2, "c1", 40, 50).asked(4)},
			attempts: append(asks("c2", 16, 16, OutcomeUnknown), asks("c3", 28, 28, OutcomeUnknown)...), idle: 34},
		{name: "the second of them a second later", grants: []Grant{failed(held(1, "c0", 2, 3)),
			held(2, "c1", 40, 50).asked(4)},
			attempts: append(asks("c2", 17, 17, OutcomeUnknown), asks("c3", 28, 28, OutcomeUnknown)...), idle: 34, overdue: 1},
		{name: "the client itself was away", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 24, 30).asked(4)},
			away: map[string][]Absence{"c1": {{Span: at(9, 23)}}}},
		{name: "the client was away before", grants: []Grant{held(1, "c0", 2, 10), held(2, "c1", 24, 30).asked(4)},
			away: map[string][]Absence{"c1": {{Span: at(9, 12)}}}, idle: 10},
		{name: "a message of the other was held", grants: []Grant{held(1, "c1", 30, 40).asked(4)},
			attempts: asks("c0", 2, 10, OutcomeUnknown),
			away:     map[string][]Absence{"c0": {{Span: at(2, 22)}}}, idle: 18},
		{name: "a client crashed while it asked", grants: []Grant{held(1, "c1", 18, 40).asked(6)},
			away: map[string][]Absence{"c0": {{Span: at(8, 50), Crash: true}}}, idle: 10},
		{name: "a client crashed long ago while it asked", grants: []Grant{held(1, "c1", 30, 40).asked(6)},
			away: map[string][]Absence{"c0": {{Span: at(8, 50), Crash: true}}}, idle: 22, overdue: 1},
		{name: "a client crashed while it asked, and began anew", grants: []Grant{held(1, "c1", 4, 10)},
			attempts: asks("c0", 12, 0, OutcomeUnknown),
			away:     map[string][]Absence{"c0": {{Span: at(14, 30), Crash: true}}}},
		{name: "a client crashed while it had been asking for too long", grants: []Grant{held(1, "c1", 4, 10)},
			attempts: asks("c0", 12, 0, OutcomeUnknown),
			away:     map[string][]Absence{"c0": {{Span: at(16, 30), Crash: true}}}, idle: 2, overdue: 1},
		{name: "another was away while it asked", grants: []Grant{held(1, "c0", 20, 22).asked(4),
			held(2, "c1", 24, 30).asked(4)},
			away: map[string][]Absence{"c0": {{Span: at(5, 20)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Attempts = c.attempts
			h.Timing = &Timing{Grace: 2 * time.Second, Trips: 2 * time.Second, Away: c.away,
				Within: map[promise.Cause]time.Duration{
					promise.CauseCrash: 10 * time.Second, promise.CauseLostReply: 10 * time.Second,
					promise.CauseFailedRelease: 10 * time.Second}}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			v := mustJudge(t, h, nil)
			if v.Facts.IdleSeconds != c.idle || v.Facts.Overdue != c.overdue {
				t.Errorf("idle %v s, overdue %d, want %v and %d", v.Facts.IdleSeconds, v.Facts.Overdue, c.idle, c.overdue)
			}
			if (v.Label == Stuck) != (c.overdue > 0) {
				t.Errorf("label %s: %v", v.Label, v.Reasons)
			}
		})
	}
}

func releasing(g Grant, until Pos) Grant { g.ReleaseReturned = until; return g }

// A lock is free for 1,000 s while a client asks, and promises to be free within 10 s of any cause. What happens when
// that time is over excuses nothing.
func TestWhatComesTooLateExcusesNothing(t *testing.T) {
	const second = time.Second
	at := func(from, to time.Duration) Span { return Span{from, to} }
	asked := Pos(1) // by c1, at 0 s; position 2 is at 999 s, position 3 at 1,000 s, where the history ends
	given := []Attempt{{Client: "c1", Resource: "orders", Invoked: asked, Returned: 3, Outcome: OutcomeFailed}}
	granted := []Grant{held(1, "c1", 3, 0).asked(asked)}
	for name, c := range map[string]struct {
		grants   []Grant
		attempts []Attempt
		away     map[string][]Absence
		want     int
	}{
		"granted in the end":  {grants: granted, want: 1},
		"gives up in the end": {attempts: given, want: 1},
		"never returned": {attempts: []Attempt{{Client: "c1", Resource: "orders", Invoked: asked,
			Outcome: OutcomeUnknown}}, want: 1},
		"crashes in the end": {attempts: []Attempt{{Client: "c1", Resource: "orders", Invoked: asked,
			Outcome: OutcomeUnknown}}, away: map[string][]Absence{"c1": {{Span: at(1000*second, 1000*second), Crash: true}}},
			want: 1},
		"paused before its grant": {grants: granted,
			away: map[string][]Absence{"c1": {{Span: at(999*second, 999*second+second/2)}}}, want: 1},
		"another gives up": {grants: granted,
			attempts: []Attempt{{Client: "c2", Resource: "orders", Invoked: 2, Returned: 2, Outcome: OutcomeFailed}}, want: 1},
		"another crashes": {grants: granted,
			away: map[string][]Absence{"c2": {{Span: at(999*second, 1000*second), Crash: true}}}, want: 1},
		"another is away": {grants: granted, away: map[string][]Absence{"c2": {{Span: at(13*second, 999*second)}}},
			want: 1},
		"another was away in time": {grants: granted, away: map[string][]Absence{"c2": {{Span: at(12*second, 999*second)}}}},
		"a pause in between, and another": {grants: granted, want: 2,
			away: map[string][]Absence{"c1": {{Span: at(500*second, 500*second+second/2)},
				{Span: at(999*second, 999*second+second/2)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := story("", c.grants)
			h.Attempts = c.attempts
			within := map[promise.Cause]time.Duration{}
			for _, cause := range promise.Causes() {
				within[cause] = 10 * second
			}
			h.Timing = &Timing{At: []time.Duration{0, 999 * second, 1000 * second}, Grace: 2 * second, Away: c.away,
				Within: within}
			if v := mustJudge(t, h, nil); v.Facts.Overdue != c.want || (v.Label == Stuck) != (c.want > 0) {
				t.Errorf("label %s, overdue %d, want %d: %v", v.Label, v.Facts.Overdue, c.want, v.Reasons)
			}
		})
	}
}

// In a reentrant lock an entry may be left behind, which later entries renew: the lock
// stays taken after their release. An absence leaves no entry by itself.
func TestIdleAfterAnEntryWasLeftBehind(t *testing.T) {
	asked := func(outcome Outcome) func(*History) {
		return func(h *History) {
			h.Attempts = []Attempt{{Client: "c0", Resource: "orders", Invoked: 4, Returned: 8, Outcome: outcome}}
		}
	}
	absent := func(crash bool) func(*History) {
		return func(h *History) {
			h.Timing.Away = map[string][]Absence{"c0": {{Span: Span{1500 * time.Millisecond, 1700 * time.Millisecond},
				Crash: crash}}}
		}
	}
	for name, c := range map[string]struct {
		cause   promise.Cause
		happens func(*History)
		overdue int
	}{
		"failed release": {promise.CauseFailedRelease, func(h *History) {
			inner := held(3, "c0", 4, 8)
			inner.ReleaseFailed = true
			h.Grants = append(h.Grants, inner)
		}, 0},
		"lost reply":        {promise.CauseLostReply, asked(OutcomeUnknown), 0},
		"cancelled acquire": {promise.CauseCancelled, asked(OutcomeFailed), 0},
		"crash":             {promise.CauseCrash, absent(true), 0},
		"absence":           {promise.CauseLostReply, absent(false), 1},
		"absence of a client that sends again": {promise.CauseLostReply, func(h *History) {
			absent(false)(h)
			h.Timing.Resends = true
		}, 0},
		"nothing": {promise.CauseCrash, func(*History) {}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := story("", []Grant{held(1, "c0", 2, 20), held(2, "c1", 29, 40).asked(10)})
			h.Entry = EntryReentrant
			h.Timing = &Timing{Grace: 2 * time.Second, Within: map[promise.Cause]time.Duration{c.cause: 7 * time.Second}}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			c.happens(&h)
			if v := mustJudge(t, h, nil); v.Facts.IdleSeconds != 6 || v.Facts.Overdue != c.overdue {
				t.Errorf("idle %v s, overdue %d, want 6 and %d: %v", v.Facts.IdleSeconds, v.Facts.Overdue, c.overdue, v.Reasons)
			}
		})
	}
}

// A lease of a reentrant lock that ended leaves its entry behind, which inner entries renew,
// until its own release has returned.
func TestIdleAfterALeaseEndedInsideAnother(t *testing.T) {
	ended := func(to Pos) Grant { return held(1, "c0", 2, to).until(6, 6) }
	for name, c := range map[string]struct {
		outer, inner Grant
		entry        Entry
		overdue      int
	}{
		"still entered":     {ended(30), held(3, "c0", 4, 15), EntryReentrant, 0},
		"never released":    {ended(0), held(3, "c0", 4, 15), EntryReentrant, 0},
		"never ended":       {held(1, "c0", 2, 20), held(3, "c0", 4, 15), EntryReentrant, 1},
		"lost":              {held(1, "c0", 2, 30).lost(6, 6), held(3, "c0", 4, 15), EntryReentrant, 0},
		"released before":   {ended(12), held(3, "c0", 4, 15), EntryReentrant, 1},
		"not reentrant":     {ended(30), held(3, "c0", 4, 15), EntryExclusive, 1},
		"lasted longer":     {held(1, "c0", 2, 30).until(16, 16), held(3, "c0", 4, 14), EntryReentrant, 0},
		"another resource":  {ended(30).of("payments"), held(3, "c0", 4, 15), EntryReentrant, 1},
		"of another client": {held(1, "c2", 2, 30).until(6, 6), held(3, "c0", 7, 15), EntryReentrant, 1},
	} {
		t.Run(name, func(t *testing.T) {
			next := held(2, "c1", 29, 50) // soon enough after the release of the inner one, step 16
			if c.outer.Released == 30 {
				next = held(2, "c1", 33, 50)
			}
			h := story("", []Grant{c.outer, c.inner, next.asked(10)})
			h.Entry, h.Care = c.entry, CareSteps
			h.Timing = &Timing{Grace: 2 * time.Second, Trips: 2 * time.Second,
				Within: map[promise.Cause]time.Duration{promise.CauseExpiry: 12 * time.Second}}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			if v := mustJudge(t, h, nil); v.Facts.IdleSeconds == 0 || v.Facts.Overdue != c.overdue {
				t.Errorf("idle %v s, overdue %d, want %d: %v", v.Facts.IdleSeconds, v.Facts.Overdue, c.overdue, v.Reasons)
			}
		})
	}
}

// An attempt that never returned has not failed, and keeps others from being denied.
func TestDeniedNeedsAReturn(t *testing.T) {
	asked := func(client string, from, to Pos) Attempt {
		return Attempt{Client: client, Resource: "orders", Invoked: from, Returned: to, Outcome: OutcomeUnknown}
	}
	for _, c := range []struct {
		attempts []Attempt
		want     int
	}{
		{[]Attempt{asked("c0", 2, 4)}, 1},
		{[]Attempt{asked("c0", 2, 0)}, 0},
		{[]Attempt{asked("c0", 2, 0), asked("c1", 6, 8)}, 0},
	} {
		h := story("", nil)
		h.Calm, h.Attempts = true, c.attempts
		if v := mustJudge(t, h, nil); v.Facts.Denied != c.want {
			t.Errorf("%+v: %d denied, want %d", c.attempts, v.Facts.Denied, c.want)
		}
	}
}

// The causes have an order and no duplicates, since reports list them.
func TestCauses(t *testing.T) {
	all := promise.Causes()
	if slices.Sort(all); len(slices.Compact(all)) != len(promise.Causes()) {
		t.Errorf("%v", promise.Causes())
	}
}

// A client that asks again and again, or is away for an instant while it waits, has no other idle time: see
// overdueForAll. The instant of position n is n seconds; c0 had crashed with the lock at 3 s, and the lock is free
// after 10 s.
func TestIdleOverAllAcquires(t *testing.T) {
	again := func(client string, from, to, ask, gap int) (all []Attempt) {
		for at := from; at < to; at += ask + gap {
			all = append(all, Attempt{Client: client, Resource: "orders", Invoked: Pos(at), Returned: Pos(at + ask),
				Outcome: OutcomeFailed})
		}
		return all
	}
	blinks := func(client string, from, to, each int) map[string][]Absence {
		away := map[string][]Absence{}
		for at := from; at < to; at += each {
			s := Span{time.Duration(at) * time.Second, time.Duration(at)*time.Second + time.Millisecond}
			away[client] = append(away[client], Absence{Span: s})
		}
		return away
	}
	for name, c := range map[string]struct {
		attempts []Attempt
		away     map[string][]Absence
		holdings []Holding
		overdue  int
	}{
		"asks again":                 {attempts: again("c1", 5, 55, 6, 1), overdue: 1},
		"asks again until it is due": {attempts: again("c1", 5, 18, 6, 1)},
		"asks for too short a time":  {attempts: again("c1", 5, 55, 2, 1)},
		"asks again after a while":   {attempts: again("c1", 5, 55, 6, 4)},
		"a waiter blinks": {attempts: append(again("c1", 5, 55, 50, 1), again("c2", 6, 54, 48, 1)...),
			away: blinks("c2", 8, 54, 7), overdue: 1},
		"asks again, and each takes the key": {attempts: again("c1", 5, 50, 6, 1),
			holdings: []Holding{holds("c1", 8, 16), holds("c1", 20, 28), holds("c1", 31, 39), holds("c1", 42, 50)}},
	} {
		h := story("", []Grant{held(1, "c0", 2, 0).crashed(3)})
		h.Attempts, h.Holdings = c.attempts, c.holdings
		h.Timing = &Timing{Grace: 2 * time.Second, Away: c.away, Within: map[promise.Cause]time.Duration{
			promise.CauseCrash: 10 * time.Second, promise.CauseCancelled: 10 * time.Second,
			promise.CauseLostReply: 10 * time.Second}}
		for n := range 60 {
			h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
		}
		if v := mustJudge(t, h, nil); v.Facts.Overdue != c.overdue {
			t.Errorf("%s: overdue %d, want %d: %v", name, v.Facts.Overdue, c.overdue, v.Reasons)
		}
	}
}

// A lost reply excuses nothing once the client has released the lock that it was granted since: what it had sent has
// arrived, and by the record of the nodes none of it took the lock. The instant of position n is n seconds; c1 waits
// from 6 s on.
func TestAbsenceBeforeALaterRelease(t *testing.T) {
	lost := func(from, to int) []Absence {
		return []Absence{{Running: true, Span: Span{time.Duration(from) * time.Second, time.Duration(to) * time.Second}}}
	}
	given := func(id int, client string, granted, released Pos) Grant {
		g := held(id, client, granted, released)
		g.ReleaseSucceeded = true
		return g
	}
	record := []Holding{holds("c0", 3, 40)}
	for name, c := range map[string]struct {
		first    Grant
		away     []Absence
		holdings []Holding
		change   func(h *History)
		overdue  int
	}{
		"released since":                     {given(1, "c0", 4, 10), lost(3, 4), record, nil, 1},
		"no reply was lost":                  {given(1, "c0", 4, 10), nil, record, nil, 1},
		"lost after the grant":               {given(1, "c0", 4, 10), lost(5, 5), record, nil, 0},
		"it may be under way at the release": {given(1, "c0", 4, 10), lost(3, 9), record, nil, 0},
		"the release failed":                 {held(1, "c0", 4, 10), lost(3, 4), record, nil, 0},
		"there is no record":                 {given(1, "c0", 4, 10), lost(3, 4), nil, nil, 0},
		"a late request took the lock": {given(1, "c0", 4, 10), lost(3, 4),
			append([]Holding{holds("c0", 12, 40)}, holds("c0", 3, 11)), nil, 0},
		"on several servers": {given(1, "c0", 4, 10), lost(3, 4), record, func(h *History) { h.Voters = 3 },
			0},
		"the servers lost keys": {given(1, "c0", 4, 10), lost(3, 4), record,
			func(h *History) { h.Timing.Steady = false }, 0},
		"within another grant": {given(1, "c0", 4, 10), lost(3, 4), record, func(h *History) {
			h.Entry = EntryReentrant
			h.Grants = append(h.Grants, given(3, "c0", 6, 8).asked(5))
		}, 0},
	} {
		h := story("", []Grant{c.first, held(2, "c1", 32, 40).asked(6)})
		h.Holdings = c.holdings
		h.Timing = &Timing{Steady: true, Grace: 2 * time.Second, Trips: time.Second, Away: map[string][]Absence{"c0": c.away},
			Within: map[promise.Cause]time.Duration{promise.CauseLostReply: 30 * time.Second,
				promise.CauseExpiry: 30 * time.Second}}
		for n := range 60 {
			h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
		}
		if c.change != nil {
			c.change(&h)
		}
		if v := mustJudge(t, h, nil); v.Facts.Overdue != c.overdue {
			t.Errorf("%s: overdue %d, want %d: %v", name, v.Facts.Overdue, c.overdue, v.Reasons)
		}
	}
}

// Of several idle times that lasted too long the longest is told first.
func TestTheLongestIdleTimeIsToldFirst(t *testing.T) {
	h := story("", []Grant{held(1, "c0", 2, 6), held(2, "c1", 12, 16).asked(4), held(3, "c2", 40, 50).asked(18)})
	h.Timing = &Timing{Grace: time.Second, Within: map[promise.Cause]time.Duration{}}
	for n := range 60 {
		h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
	}
	v := mustJudge(t, h, nil)
	i := slices.IndexFunc(v.Reasons, func(r Reason) bool { return strings.Contains(r.Text, "nobody had it") })
	if v.Facts.Overdue != 2 || i < 0 || !strings.HasPrefix(v.Reasons[i].Text, "c2 waited") {
		t.Errorf("%d overdue: %v", v.Facts.Overdue, v.Reasons)
	}
}
