package play_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// told is a lock whose leases end, and announce their loss, as a test says.
type told struct {
	lock.Locker
	clock func() time.Time
	// until are the ends of a lease, after its grant: the first, and those that it has after so much more time.
	until map[time.Duration]time.Duration
	// lostAfter is when the loss is announced after the grant, on a timer that a pause does not hold. It is negative
	// for never, and 0 for before Acquire returns.
	lostAfter time.Duration
	// lostInRelease says that Release announces the loss.
	lostInRelease bool
}

func (l told) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, resource)
	if err != nil {
		return nil, err
	}
	t := toldLease{Lease: lease, from: l, granted: l.clock(), lost: make(chan struct{})}
	switch {
	case l.lostAfter == 0:
		close(t.lost)
	case l.lostAfter > 0:
		time.AfterFunc(l.lostAfter, func() { close(t.lost) })
	}
	return t, nil
}

type toldLease struct {
	lock.Lease
	from    told
	granted time.Time
	lost    chan struct{}
}

func (l toldLease) Lost() <-chan struct{} { return l.lost }

func (l toldLease) Until() time.Time {
	if end, ok := l.from.until[0]; ok && len(l.from.until) == 1 {
		return l.granted.Add(end) // without the clock, for which a paused process waits
	}
	passed, last, end := l.from.clock().Sub(l.granted), time.Duration(-1), time.Duration(0)
	for from, until := range l.from.until {
		if from <= passed && from > last {
			last, end = from, until
		}
	}
	if last < 0 {
		return time.Time{}
	}
	return l.granted.Add(end)
}

func (l toldLease) Release(ctx context.Context) error {
	if l.from.lostInRelease && l.Context().Err() == nil { // it is called twice
		close(l.lost)
	}
	return l.Lease.Release(ctx)
}

// The end of a lease and the notice of its loss are recorded at their instants, also while the client is paused, from
// when Acquire returned to when Release has; the client sees them at a step of its own. The section reads and writes,
// and works for three seconds between.
func TestWhatALeaseTells(t *testing.T) {
	const s, never = time.Second, -time.Second
	lost := func(after time.Duration) told {
		return told{until: map[time.Duration]time.Duration{0: 9 * s}, lostAfter: after}
	}
	ends := func(after time.Duration) told {
		return told{until: map[time.Duration]time.Duration{0: after}, lostAfter: never}
	}
	renewed := func(after, until time.Duration) told {
		return told{until: map[time.Duration]time.Duration{0: s, after: until}, lostAfter: never}
	}
	byRelease := lost(never)
	byRelease.lostInRelease = true
	for name, c := range map[string]struct {
		lock           told
		checks, faults string
		want           string // after the grant
	}{
		"nothing":                    {lock: lost(never)},
		"a loss":                     {lock: lost(s), want: "lost 1s, seen 1s"},
		"a loss in a pause":          {lock: lost(s), faults: pausedAtGrant, want: "lost 1s, seen 2s"},
		"a loss at once":             {lock: lost(0), want: "lost 0s, seen 0s"},
		"a loss after the release":   {lock: lost(4 * s)},
		"a loss by the release":      {lock: byRelease, want: "lost 3s, seen 3s"},
		"a loss that is checked":     {lock: lost(s), checks: "lost", want: "lost 1s, seen 1s"},
		"an end":                     {lock: ends(s), want: "ended 1s"},
		"an end in a pause":          {lock: ends(s), faults: pausedAtGrant, want: "ended 1s"},
		"an end that is checked":     {lock: ends(s), checks: "steps", want: "ended 1s, seen 3s"},
		"an end that is not checked": {lock: ends(s), checks: "lost", want: "ended 1s"},
		"an end at once":             {lock: ends(0), want: "ended 0s"},
		"an end long ago":            {lock: ends(-s), want: "ended 0s"},
		"no known end":               {lock: told{lostAfter: never}},
		"a renewal in time":          {lock: renewed(s/2, 2*s), want: "ended 2s"},
		"a renewal that is late":     {lock: renewed(2*s, 9*s), want: "ended 1s, revived 3s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := testruns.Kind(t, "single")
			if len(c.lock.until) == 0 {
				l.Lease = subject.LeaseHeld
			}
			inner := l.New
			l.New = func(e subject.Env) (lock.Locker, error) {
				locker, err := inner(e)
				c.lock.Locker, c.lock.clock = locker, e.Clock().Now
				return c.lock, err
			}
			h := historyOf(t, l, "name: told\nlock: {ttl: 10s}\nworld: {clients: 1, latency: 1us}\n"+
				"workload: {hold: 3s, checks_until: "+cmp.Or(c.checks, "never")+"}\n"+c.faults)
			g := h.Grants[0]
			var told []string
			for _, e := range []struct {
				what string
				at   checker.Pos
			}{{"lost", g.Lost}, {"seen", g.LostSeen}, {"ended", g.Until}, {"seen", g.UntilSeen}, {"revived", g.Revived}} {
				if e.at > 0 {
					after := h.Timing.At[e.at-1] - h.Timing.At[g.Granted-1]
					told = append(told, fmt.Sprint(e.what, " ", after.Round(time.Millisecond)))
				}
			}
			if got := strings.Join(told, ", "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if atOnce := g.Claim().Empty(); atOnce != strings.Contains(c.want, " 0s") {
				t.Errorf("the claim is %+v", g.Claim())
			}
			if g.Lost > 0 && (g.LostSeen <= g.Granted || g.LostSeen < g.Lost) {
				t.Errorf("the loss of step %d was seen at step %d, after the grant of step %d", g.Lost, g.LostSeen, g.Granted)
			}
		})
	}
}

const pausedAtGrant = "faults: [{when: {client: c0, event: granted}, pause: {process: c0, for: 2s}}]\n"

// A lease that had ended when Acquire was called, or in that instant, is told apart from one that ended meanwhile.
func TestExpiredAtCall(t *testing.T) {
	for early, want := range map[time.Duration]bool{0: true, 1: true, -1: false} {
		l := testruns.Kind(t, "single")
		inner := l.New
		l.New = func(e subject.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return endsAtCall{locker, e.Clock().Now, early}, err
		}
		g := historyOf(t, l, "name: call\nworld: {clients: 1, latency: 1ms}\n").Grants[0]
		if g.ExpiredAtCall != want || g.Until != g.Granted {
			t.Errorf("a lease that ended %v before the call: expired at the call %v, want %v; it ended at step %d of %d",
				early, g.ExpiredAtCall, want, g.Until, g.Granted)
		}
	}
}

// endsAtCall is a lock whose leases end so long before the call of Acquire.
type endsAtCall struct {
	lock.Locker
	clock func() time.Time
	early time.Duration
}

func (l endsAtCall) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	called := l.clock()
	lease, err := l.Locker.Acquire(ctx, resource)
	at := told{clock: l.clock, until: map[time.Duration]time.Duration{0: 0}}
	return toldLease{Lease: lease, from: at, granted: called.Add(-l.early)}, err
}
