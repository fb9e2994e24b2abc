package play

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// probe is a lone client that asks for the lock when all workloads have ended and
// the network is healed: it must get the lock within the longest TTL of the keys,
// plus a retry. A lock on several nodes must not need all of them, though: a
// majority is enough.
type probe struct {
	bound    time.Duration
	waited   time.Duration
	acquired bool
	problem  error
	leaked   string
	blocked  string // why the clients did not end before the network was healed
}

// retry is the longest time between two attempts that is allowed to a lock whose
// backoff is not known.
const retry = 2 * time.Second

func (p *play) runProbe() error {
	w := p.world
	after := ended{p}
	p.probe = &probe{leaked: after.leftBehind(), blocked: after.blockedBy()}
	p.probe.bound = after.longestTTL() + max(p.sc.Lock.Backoff.Max, retry) + 8*p.sc.World.Latency.Max
	proc, err := w.Join(trace.Probe)
	if err != nil {
		return fmt.Errorf("add the probe: %w", err)
	}
	locker, err := p.lock.New(p.env(proc))
	if err != nil {
		return fmt.Errorf("make the lock of the probe: %w", err)
	}
	proc.Go(func() { p.probe.run(proc, locker) })
	return w.RunUntil(w.Idle)
}

// run tries until the bound; a lock that gives up earlier is asked again.
func (b *probe) run(proc Machine, locker lock.Locker) {
	began := proc.Clock().Now()
	ctx, cancel := context.WithTimeout(proc.Context(), b.bound)
	defer cancel()
	for ctx.Err() == nil {
		lease, err := locker.Acquire(ctx, resource)
		if err == nil {
			b.acquired = true
			b.waited = proc.Clock().Now().Sub(began)
			b.problem = lease.Release(proc.Context())
			return
		}
		b.problem = err
		if proc.Clock().Sleep(ctx, 10*time.Millisecond) != nil {
			return
		}
	}
}

func (b *probe) verdict() (checker.Liveness, string) {
	switch {
	case b.blocked != "":
		return checker.LivenessStuck, b.blocked
	case !b.acquired:
		return checker.LivenessStuck, fmt.Sprintf("With the network whole and nobody else there, a client asked for it for %v: %v.", b.bound.Round(time.Millisecond), b.problem)
	case b.leaked != "":
		return checker.LivenessLeaked, b.leaked
	}
	return checker.LivenessOK, ""
}

// ended is a run whose workload is over, in its healed world.
type ended struct{ *play }

// longestTTL is the longest time until a key with a TTL expires or, if a server
// does not list its keys, the TTL of the lock.
func (p ended) longestTTL() time.Duration {
	var longest time.Duration
	for _, s := range p.asked() {
		if !s.Listed {
			longest = max(longest, p.sc.Lock.TTL)
		}
		for _, k := range s.Keys {
			longest = max(longest, k.TTL)
		}
	}
	return longest
}

// asked are the servers to which locks send requests.
func (p ended) asked() []ServerState {
	return slices.DeleteFunc(p.world.Ground().Servers(), func(s ServerState) bool { return !s.Asked })
}

// leftBehind looks for lock keys that no client is entitled to any more. A key may
// exist, until its TTL, when its holder crashed, when a release or an acquire ended
// without an answer, or when the network was cut meanwhile.
func (p ended) leftBehind() string {
	if p.lock.Keys == nil {
		return ""
	}
	excused := p.excused()
	for _, s := range p.asked() {
		for _, k := range s.Keys {
			for _, name := range p.lock.Keys(resource) {
				switch {
				case k.Name != name:
				case k.TTL == 0:
					return fmt.Sprintf("The key %s on %s has no TTL: nothing will ever free it.", k.Name, s.Name)
				case !excused:
					return fmt.Sprintf("The key %s on %s is still there, with %v to live, although every client has released or failed.", k.Name, s.Name, k.TTL.Round(time.Millisecond))
				}
			}
		}
	}
	return ""
}

// excused reports whether a key may exist through no fault of the lock.
func (p ended) excused() bool {
	for i, f := range p.sc.Faults {
		if p.schedule.fired[i] && leavesKey(f.Action) {
			return true
		}
	}
	for _, c := range p.clients {
		if c.view.Crashed() {
			return true
		}
		for _, g := range c.grants {
			if g.ReleaseFailed {
				return true
			}
		}
		for _, a := range c.attempts {
			if a.Outcome == checker.OutcomeUnknown {
				return true
			}
		}
	}
	return false
}

// leavesKey reports whether an action can leave a key behind that no lock could
// have removed: a request of an attempt may arrive after the request that was to
// undo it (F28), a release may never arrive, a node may restart with old keys
// (F43). Pauses, clocks and lost keys cannot.
func leavesKey(a faults.Action) bool {
	switch faults.ClassOf(a) {
	case promise.Pause, promise.Slow, promise.WallClock, promise.NodeClock, promise.ClockDrift, promise.ClockRate,
		promise.Eviction, promise.Flush, promise.Scripts:
		return false
	}
	return true
}
