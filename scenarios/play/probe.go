package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
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
	blocked  string // why the clients did not end, or not before the network was healed
	lasting  string // a key that outlives every lease
	denied   bool   // every Acquire that failed said only that the lock was taken, or that the time was over
}

// retry is the longest time between two attempts that is allowed to a lock whose
// backoff is not known.
const retry = 2 * time.Second

// probeLimit is the longest time for which the probe waits for the keys of a lock to expire. No lease that the scenario
// asks for lasts as long.
func (p *play) probeLimit() time.Duration { return p.acquireLimit() + time.Hour }

func (p *play) runProbe() error {
	w := p.world
	after := ended{p}
	p.probe = &probe{blocked: p.hung}
	if p.endless {
		return nil
	}
	if err := w.RunUntil(w.Quiet); err != nil {
		return err
	}
	p.probe = &probe{blocked: cmp.Or(p.hung, after.blockedBy()), denied: true}
	left := after.leftBehind()
	bare, changes := after.bare(), len(w.Ground().KeyChanges())
	var longest time.Duration
	longest, p.probe.lasting = after.longestWait()
	p.probe.bound = longest + max(p.sc.Lock.Backoff.Max, p.lock.Pause, retry) + 8*p.sc.World.Latency.Max + p.lock.settles()
	proc, err := w.Join(trace.Probe)
	if err != nil {
		return fmt.Errorf("add the probe: %w", err)
	}
	locker, err := p.newLocker(proc)
	if err != nil {
		return fmt.Errorf("make the lock of the probe: %w", err)
	}
	var done atomic.Bool
	proc.Go(func() {
		defer done.Store(true)
		for _, resource := range p.resources() {
			if p.probe.acquired = false; !p.probe.run(proc, locker, resource) {
				return
			}
		}
	})
	passed := false
	if !p.real {
		w.After(p.probe.bound+p.acquireLimit(), func() { passed = true })
	}
	if err := w.RunUntil(func() bool { return w.Idle() || p.hung != "" && done.Load() || passed }); err != nil {
		return err
	}
	if passed && !done.Load() && p.hung == "" {
		p.hung = fmt.Sprintf("With the network whole and no other client there, a client asked for it and waits for ever: %v after the end of its context it has no answer.",
			p.acquireLimit().Round(time.Second))
		p.probe.blocked = p.hung
	}
	if left = slices.DeleteFunc(left, after.meansNothing); len(left) > 0 && !after.minority(left) {
		p.probe.leaked = left[0].why
	}
	if bare && after.bare() && len(w.Ground().KeyChanges()) == changes && after.keptOutside() {
		return ErrKeptOutside
	}
	return nil
}

// ErrKeptOutside is returned when the lock keeps its lease outside the servers, such
// as in a variable of the program: a client that asked for the lock at the end was
// told that it is taken, while no server had any key. All clients of a run are in one
// program, and so share its variables. Real processes do not, and the lock would not
// exclude them, so that a run says nothing about it.
var ErrKeptOutside = errors.New("the lock keeps its lease outside the servers: it was granted, and in the end it is taken although no server has any key; " +
	"the clients of a run share the variables of this program, which real processes do not: make all state of the lock in New, for each process anew")

// run tries until the bound; a lock that gives up earlier is asked again. It reports
// whether it got the lock.
func (b *probe) run(proc Machine, locker lock.Locker, resource string) bool {
	began := proc.Clock().Now()
	ctx, cancel := context.WithTimeout(proc.Context(), b.bound)
	defer cancel()
	for ctx.Err() == nil {
		lease, err := locker.Acquire(ctx, resource)
		if err == nil {
			b.acquired = true
			b.waited = max(b.waited, proc.Clock().Now().Sub(began))
			b.problem = lease.Release(proc.Context())
			return true
		}
		b.problem = err
		b.denied = b.denied && onlyDenies(err)
		if proc.Clock().Sleep(ctx, 10*time.Millisecond) != nil {
			return false
		}
	}
	return false
}

// onlyDenies reports whether an error says that the lock is taken, or that the time is
// over, and nothing else: an error about a connection says why the lock was not granted.
func onlyDenies(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it looks at each error of the tree
	case interface{ Unwrap() error }:
		return onlyDenies(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !onlyDenies(err) })
	}
	return err == lock.ErrTaken || err == context.DeadlineExceeded || err == context.Canceled //nolint:errorlint // the leaves of the tree
}

func (b *probe) verdict() (checker.Liveness, string) {
	switch {
	case b.blocked != "":
		return checker.LivenessStuck, b.blocked
	case !b.acquired:
		return checker.LivenessStuck, fmt.Sprintf("With the network whole and no other client there, a client asked for it for %v: %v.%s", b.bound.Round(time.Millisecond), b.problem, b.lasting)
	case b.leaked != "":
		return checker.LivenessLeaked, b.leaked
	}
	return checker.LivenessOK, ""
}

// ended is a run whose workload is over, in its healed world.
type ended struct{ *play }

// longestTTL is the longest time until a key with a TTL expires or, if a server does not list its keys, or a learnt key
// has no TTL, so that its value may say until when it counts, until the lock is free by its promise, a TTL at least.
// key names the key in a sentence.
func (p ended) longestTTL() (longest time.Duration, key string) {
	for _, s := range p.asked() {
		if !s.Listed || p.lock.learns() && slices.ContainsFunc(s.Keys, func(k trace.Key) bool { return k.TTL == 0 }) {
			longest = max(longest, p.sc.Lock.TTL)
			if term := p.lock.Promise.FreeWithin; term != lock.TermAnyTime {
				longest = max(longest, p.length(term))
			}
		}
		for _, k := range s.Keys {
			if k.TTL > longest {
				longest, key = k.TTL, fmt.Sprintf(" The key %s on %s has %v to live: is its TTL in the right unit, and a length of time?",
					trace.Name(k.Name), s.Name, k.TTL.Round(time.Second))
			}
		}
	}
	return longest, key
}

// longestWait is how long the probe may wait, but for a backoff and its messages. One whose backoff is not known may
// pause for as long as it has waited: see [checker.Timing.Growing]. It need not wait for a key that outlives every
// lease, which lasting names: it asks as long as a client asks.
func (p ended) longestWait() (wait time.Duration, lasting string) {
	switch ttl, key := p.longestTTL(); {
	case ttl > p.probeLimit():
		return p.acquireLimit(), key
	case p.lock.FollowsSpec:
		return ttl, ""
	default:
		return 2 * ttl, ""
	}
}

// asked are the servers to which locks send requests.
func (p ended) asked() []ServerState {
	return slices.DeleteFunc(p.world.Ground().Servers(), func(s ServerState) bool { return !s.Asked })
}

// bare reports whether every server to which locks send requests is running and lists
// its keys, and none has any.
func (p ended) bare() bool {
	return !slices.ContainsFunc(p.asked(), func(s ServerState) bool { return s.Down || !s.Listed || len(s.Keys) > 0 })
}

// keptOutside reports whether something else than a key kept the probe out: the lock
// can be granted, to more than one client or to one that never released it, and it was
// only denied to the probe. A lock that was granted to one client alone, and was
// released, may be one that nobody else can have: that is a verdict.
func (p ended) keptOutside() bool {
	holders := map[string]bool{}
	kept := false
	for _, c := range p.clients {
		kept = kept || len(c.lapsed) > 0
		for _, g := range c.grants {
			holders[g.Client] = true
			kept = kept || g.Released == 0
		}
	}
	return !p.probe.acquired && p.probe.denied && (len(holders) > 1 || kept)
}

// leftover is a key of the lock on a server that should not be there.
type leftover struct {
	server string
	key    trace.Key
	why    string
}

// leftBehind looks for lock keys that no client is entitled to any more. A key may
// exist, until its TTL, when its holder crashed, when a release or an acquire ended
// without an answer, or when the network was cut meanwhile.
func (p ended) leftBehind() (all []leftover) {
	if p.lock.Keys == nil {
		return nil
	}
	var names []string
	for _, resource := range p.resources() {
		names = append(names, p.lock.Keys(resource)...)
	}
	for _, s := range p.asked() {
		for _, k := range s.Keys {
			switch {
			case !slices.Contains(names, k.Name):
			case k.TTL == 0:
				all = append(all, leftover{s.Name, k, fmt.Sprintf("The key %s on %s has no TTL: nothing will ever free it.", k.Name, s.Name)})
			case !p.excused(p.ownerOf(s.Name, k), s.Name):
				all = append(all, leftover{s.Name, k, fmt.Sprintf("The key %s on %s is still there, with %v to live, although every client has released or failed.",
					k.Name, s.Name, k.TTL.Round(time.Millisecond))})
			}
		}
	}
	return all
}

// meansNothing reports, when the probe has asked for the lock, whether a key without a TTL did not keep it out: of keys
// that were learnt it is not known which of them is the lock, and the value of one may say until when it counts.
func (p ended) meansNothing(of leftover) bool {
	return p.lock.learns() && of.key.TTL == 0 && p.probe.acquired
}

// minority reports whether keys that were learnt, and end by themselves, are left on so few of several servers that a
// majority is free: a release that most servers have carried out has freed the lock, and that the others are asked too,
// and in order, is no promise that a lock makes unless it names its keys. See WithFailFast of redsync.
func (p ended) minority(left []leftover) bool {
	on := map[string]bool{}
	for _, l := range left {
		if l.key.TTL == 0 {
			return false
		}
		on[l.server] = true
	}
	return p.lock.learns() && len(on) < (p.lock.voters()+1)/2
}

// ownerOf is the client that has set the value of a key, also if the server has it
// from another one. It is empty if that is not known.
func (p ended) ownerOf(server string, k trace.Key) string {
	changes := p.world.Ground().KeyChanges()
	value := ""
	for _, c := range slices.Backward(changes) {
		switch {
		case c.Key != k.Name:
		case value == "" && c.Server == server && c.By != "":
			return c.By
		case value == "" && c.Server == server:
			value = c.Value
		case value != "" && c.Value == value && c.By != "":
			return c.By
		}
	}
	return ""
}

// excused reports whether a key of an owner may exist on a server through no fault of
// the lock. That a fault struck somewhere else is no excuse. A lock that names its keys
// says by it that none remains when a call ends with its context. Of keys that were
// learnt that is not known: they must be gone after a release that succeeded, from all of several servers if its
// context had not ended.
func (p ended) excused(owner, server string) bool {
	for i, f := range p.sc.Faults {
		if p.schedule.fired[i] && leavesKey(f.Action) && p.strikesAt(f.Action, owner, server) {
			return true
		}
	}
	for _, c := range p.clients {
		if owner != "" && c.proc.Name() != owner {
			continue
		}
		learnt := p.lock.learns()
		unknown := func(a attempt) bool { return a.Outcome == checker.OutcomeUnknown || learnt && a.ended != nil }
		failed := func(g *grant) bool {
			// of several servers most are enough for a release, and its context may have ended before it asked all
			most := g.ReleaseContextEnded && p.lock.voters() > 1
			return g.ReleaseFailed || learnt && (!g.ReleaseSucceeded || most)
		}
		if c.view.Crashed() || len(c.lapsed) > 0 || slices.ContainsFunc(c.grants, failed) || slices.ContainsFunc(c.attempts, unknown) {
			return true
		}
	}
	return false
}

// strikesAt reports whether an action concerns a client, the server, or the link
// between them.
func (p ended) strikesAt(a faults.Action, owner, server string) bool {
	form, _ := faults.Open(a)
	if between, and := form.Sides(); between != nil {
		return owner == "" || crosses(between, and, owner, []string{server})
	}
	for _, field := range form.Fields {
		if name, ok := field.Holds.(faults.Name); ok && (*name.To == owner || trace.IsServer(*name.To)) {
			return true
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
