package evidence

import (
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// liveness says whether the lock could be taken again when the workload was over. Of a run that ended with its program
// nothing is known.
func (r reading) liveness() (checker.Liveness, string) {
	switch b := r.Probe; {
	case r.Hung != "":
		return checker.LivenessStuck, r.Hung
	case b.Bound == 0:
		return checker.LivenessOK, ""
	case r.blockedBy() != "":
		return checker.LivenessStuck, r.blockedBy()
	case !b.Acquired:
		_, lasting := r.longestWait()
		return checker.LivenessStuck, fmt.Sprintf("With the network whole and no other client there, a client asked for it for %v: %s.%s",
			b.Bound.Round(time.Millisecond), b.Problem, lasting)
	}
	left := slices.DeleteFunc(r.leftBehind(), r.meansNothing)
	if len(left) > 0 && !r.minority(left) {
		return checker.LivenessLeaked, left[0].why
	}
	return checker.LivenessOK, ""
}

// ProbeBound is how long the probe of a run asks for the lock, whose record has the state of the servers in Left. No lease
// that the scenario asks for lasts as long.
func ProbeBound(sc *file.Scenario, terms Terms, rec *Record) time.Duration {
	r := reading{rec, sc, terms}
	longest, _ := r.longestWait()
	return longest + max(sc.Lock.Backoff.Max, terms.Pause, Retry) + 8*sc.World.Latency.Max + terms.Settles
}

// ProbeLimit is the longest time for which a probe waits for the keys of a lock to expire, where a client asks for the lock
// for so long before it gives up.
func ProbeLimit(askedFor time.Duration) time.Duration { return askedFor + time.Hour }

// KeptOutside reports whether the lock keeps its lease outside the servers: it was granted, and the probe was told that it is
// taken while no server had any key.
func KeptOutside(rec *Record) bool {
	r := reading{Record: rec}
	return rec.Probe.Bound > 0 && bare(rec.Left) && bare(rec.Ended) && rec.ChangesBefore == len(rec.Changes) && r.keptOutside()
}

// longestTTL is the longest time until a key with a TTL expires or, if a server does not list its keys, or a learnt key
// has no TTL, so that its value may say until when it counts, until the lock is free by its promise, a TTL at least.
// key names the key in a sentence.
func (r reading) longestTTL() (longest time.Duration, key string) {
	for _, s := range asked(r.Left) {
		if !s.Listed || r.Learnt && slices.ContainsFunc(s.Keys, func(k trace.Key) bool { return k.TTL == 0 }) {
			longest = max(longest, r.sc.Lock.TTL)
			if term := r.terms.Promise.FreeWithin; term != promise.TermAnyTime {
				longest = max(longest, r.length(term))
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
func (r reading) longestWait() (wait time.Duration, lasting string) {
	switch ttl, key := r.longestTTL(); {
	case ttl > ProbeLimit(r.AskedFor):
		return r.AskedFor, key
	case r.terms.FollowsSpec:
		return ttl, ""
	default:
		return 2 * ttl, ""
	}
}

// asked are the servers to which locks send requests.
func asked(servers []ServerState) []ServerState {
	return slices.DeleteFunc(slices.Clone(servers), func(s ServerState) bool { return !s.Asked })
}

// bare reports whether every server to which locks send requests is running and lists
// its keys, and none has any.
func bare(servers []ServerState) bool {
	return !slices.ContainsFunc(asked(servers), func(s ServerState) bool { return s.Down || !s.Listed || len(s.Keys) > 0 })
}

// keptOutside reports whether something else than a key kept the probe out: the lock
// can be granted, to more than one client or to one that never released it, and it was
// only denied to the probe. A lock that was granted to one client alone, and was
// released, may be one that nobody else can have: that is a verdict.
func (r reading) keptOutside() bool {
	holders := map[string]bool{}
	kept := false
	for _, c := range r.Clients {
		kept = kept || len(c.Lapsed) > 0
		for _, g := range c.Grants {
			holders[g.Client] = true
			kept = kept || g.Released == 0
		}
	}
	return !r.Probe.Acquired && r.Probe.Denied && (len(holders) > 1 || kept)
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
func (r reading) leftBehind() (all []leftover) {
	if r.Keys == nil {
		return nil
	}
	var names []string
	for _, resource := range r.sc.Workload.Resources {
		names = append(names, r.Keys[resource]...)
	}
	for _, s := range asked(r.Left) {
		for _, k := range s.Keys {
			switch {
			case !slices.Contains(names, k.Name):
			case k.TTL == 0:
				all = append(all, leftover{s.Name, k, fmt.Sprintf("The key %s on %s has no TTL: nothing will ever free it.", k.Name, s.Name)})
			case !r.excused(r.ownerOf(s.Name, k), s.Name):
				all = append(all, leftover{s.Name, k, fmt.Sprintf(
					"The key %s on %s is still there, with %v to live, although every client has released or failed.", k.Name, s.Name, k.TTL.Round(time.Millisecond))})
			}
		}
	}
	return all
}

// meansNothing reports, when the probe has asked for the lock, whether a key without a TTL did not keep it out: of keys
// that were learnt it is not known which of them is the lock, and the value of one may say until when it counts.
func (r reading) meansNothing(of leftover) bool {
	return r.Learnt && of.key.TTL == 0 && r.Probe.Acquired
}

// minority reports whether keys that were learnt, and end by themselves, are left on so few of several servers that a
// majority is free: a release that most servers have carried out has freed the lock, and that the others are asked too,
// and in order, is no promise that a lock makes unless it names its keys. See WithFailFast of redsync.
func (r reading) minority(left []leftover) bool {
	on := map[string]bool{}
	for _, l := range left {
		if l.key.TTL == 0 {
			return false
		}
		on[l.server] = true
	}
	return r.Learnt && len(on) < (r.terms.Voters+1)/2
}

// ownerOf is the client that has set the value of a key, also if the server has it
// from another one. It is empty if that is not known.
func (r reading) ownerOf(server string, k trace.Key) string {
	value := ""
	for _, c := range slices.Backward(r.Changes[:r.ChangesBefore]) {
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
func (r reading) excused(owner, server string) bool {
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired && leavesKey(f.Action) && r.strikesAt(f.Action, owner, server) {
			return true
		}
	}
	for _, c := range r.Clients {
		if owner != "" && c.Name != owner {
			continue
		}
		learnt := r.Learnt
		unknown := func(a checker.Attempt) bool {
			return a.Outcome == checker.OutcomeUnknown || learnt && a.ContextEnded > 0
		}
		failed := func(g Grant) bool {
			// of several servers most are enough for a release, and its context may have ended before it asked all
			most := g.ReleaseContextEnded && r.terms.Voters > 1
			return g.ReleaseFailed || learnt && (!g.ReleaseSucceeded || most)
		}
		if c.Crashed || len(c.Lapsed) > 0 || slices.ContainsFunc(c.Grants, failed) || slices.ContainsFunc(c.Attempts, unknown) {
			return true
		}
	}
	return false
}

// strikesAt reports whether an action concerns a client, the server, or the link
// between them.
func (r reading) strikesAt(a faults.Action, owner, server string) bool {
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
