package play_test

import (
	"context"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// told is a lock whose leases end, and announce their loss, as a test says.
type told struct {
	lock.Locker
	clock func() time.Time
	// until are the ends of a lease, after its grant: the first, and those that it has after so much more time.
	until map[time.Duration]time.Duration
	// lostAfter is when the loss is announced after the grant, on a timer that a pause does not hold. It is negative for
	// never, and 0 for before Acquire returns.
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

// The end of a lease and the notice of its loss are recorded at their instants, also while the client is paused, from when
// Acquire returned to when Release has; the client sees them at a step of its own. The section reads and writes, and works
// for three seconds between.
func TestWhatALeaseTells(t *testing.T) {
	const s = time.Second
	const never = -s
	ends := func(end time.Duration) map[time.Duration]time.Duration {
		return map[time.Duration]time.Duration{0: end}
	}
	type instants struct{ lost, lostSeen, until, untilSeen, revived time.Duration } // after the grant
	for name, c := range map[string]struct {
		lock           told
		checks, faults string
		want           instants
	}{
		"nothing":                    {lock: told{until: ends(9 * s), lostAfter: never}, want: instants{never, never, never, never, never}},
		"a loss":                     {lock: told{until: ends(9 * s), lostAfter: s}, want: instants{s, s, never, never, never}},
		"a loss in a pause":          {lock: told{until: ends(9 * s), lostAfter: s}, faults: pausedAtGrant, want: instants{s, 2 * s, never, never, never}},
		"a loss at once":             {lock: told{until: ends(9 * s), lostAfter: 0}, want: instants{0, 0, never, never, never}},
		"a loss after the release":   {lock: told{until: ends(9 * s), lostAfter: 4 * s}, want: instants{never, never, never, never, never}},
		"a loss by the release":      {lock: told{until: ends(9 * s), lostAfter: never, lostInRelease: true}, want: instants{3 * s, 3 * s, never, never, never}},
		"an end":                     {lock: told{until: ends(s), lostAfter: never}, want: instants{never, never, s, never, never}},
		"an end in a pause":          {lock: told{until: ends(s), lostAfter: never}, faults: pausedAtGrant, want: instants{never, never, s, never, never}},
		"an end that is checked":     {lock: told{until: ends(s), lostAfter: never}, checks: "steps", want: instants{never, never, s, 3 * s, never}},
		"a loss that is checked":     {lock: told{until: ends(9 * s), lostAfter: s}, checks: "lost", want: instants{s, s, never, never, never}},
		"an end that is not checked": {lock: told{until: ends(s), lostAfter: never}, checks: "lost", want: instants{never, never, s, never, never}},
		"an end at once":             {lock: told{until: ends(0), lostAfter: never}, want: instants{never, never, 0, never, never}},
		"an end long ago":            {lock: told{until: ends(-s), lostAfter: never}, want: instants{never, never, 0, never, never}},
		"no known end":               {lock: told{lostAfter: never}, want: instants{never, never, never, never, never}},
		"a renewal in time": {lock: told{until: map[time.Duration]time.Duration{0: s, s / 2: 2 * s}, lostAfter: never},
			want: instants{never, never, 2 * s, never, never}},
		"a renewal that is late": {lock: told{until: map[time.Duration]time.Duration{0: s, 2 * s: 9 * s}, lostAfter: never},
			want: instants{never, never, s, never, 3 * s}},
	} {
		t.Run(name, func(t *testing.T) {
			l := testruns.Kind(t, "single")
			inner := l.New
			l.New = func(e play.Env) (lock.Locker, error) {
				locker, err := inner(e)
				c.lock.Locker, c.lock.clock = locker, e.Clock().Now
				return c.lock, err
			}
			if c.checks == "" {
				c.checks = "never"
			}
			h := historyOf(t, l, "name: told\nlock: {ttl: 10s}\nworld: {clients: 1, latency: 1us}\n"+
				"workload: {hold: 3s, checks_until: "+c.checks+"}\n"+c.faults)
			g := h.Grants[0]
			after := func(p checker.Pos) time.Duration {
				if p == 0 {
					return never
				}
				return (h.Timing.At[p-1] - h.Timing.At[g.Granted-1]).Round(time.Millisecond)
			}
			if got := (instants{after(g.Lost), after(g.LostSeen), after(g.Until), after(g.UntilSeen), after(g.Revived)}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if atOnce := c.want.lost == 0 || c.want.until == 0; atOnce != g.Claim().Empty() {
				t.Errorf("the claim is %+v", g.Claim())
			}
			if c.want.lost >= 0 && (g.LostSeen <= g.Granted || g.LostSeen < g.Lost) {
				t.Errorf("the client saw the loss of step %d at step %d, and its grant at step %d", g.Lost, g.LostSeen, g.Granted)
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
		l.New = func(e play.Env) (lock.Locker, error) {
			locker, err := inner(e)
			return endsAtCall{locker, e.Clock().Now, early}, err
		}
		sc := testruns.Parse(t, "name: call\nworld: {clients: 1, latency: 1ms}\n")
		g := testruns.Play(t, sc, l, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true}).Modes[0].History.Grants[0]
		if g.ExpiredAtCall != want || g.Until != g.Granted {
			t.Errorf("a lease that ended %v before the call: expired at the call %v, want %v; it ended at step %d, and was granted at step %d",
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
	return toldLease{Lease: lease, from: told{clock: l.clock, until: map[time.Duration]time.Duration{0: 0}}, granted: called.Add(-l.early)}, err
}
