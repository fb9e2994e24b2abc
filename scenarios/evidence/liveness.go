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

// aftermath is a reading of what was left when the workload was over.
type aftermath struct{ reading }

// ending is what was left of the lock when the workload was over.
func (r aftermath) ending() checker.Ending {
	e := checker.Ending{Loops: r.Loops, Nodes: r.terms.Nodes, Asked: r.Probe.Bound, Granted: r.Probe.Acquired,
		Problem: r.Probe.Problem, Leftovers: r.leftovers(), Learnt: r.Learnt}
	e.Waiting = slices.Clone(r.Waiting)
	e.CutOff, e.Kept = r.unreachable()
	_, e.Lasting = r.longestWait()
	for _, c := range r.Clients {
		if c.Crashed || len(c.Lapsed) > 0 {
			e.Gone = append(e.Gone, c.Name)
		}
	}
	return e
}

// ProbeBound is how long the probe of a run asks for the lock, whose record has the state of the servers in Left. No
// lease that the scenario asks for lasts as long.
func ProbeBound(sc *file.Scenario, terms Terms, rec *Record) time.Duration {
	longest, _ := aftermath{read(sc, terms, rec)}.longestWait()
	return longest + max(sc.Lock.Backoff.Max, terms.Pause, Retry) + 8*sc.World.Latency.Max + terms.Settles
}

// ProbeLimit is the longest time for which a probe waits for the keys of a lock to expire, where a client asks for
// the lock for so long before it gives up.
func ProbeLimit(askedFor time.Duration) time.Duration { return askedFor + time.Hour }

// KeptOutside reports whether the lock keeps its lease outside the servers: it was granted, and the probe was told
// that it is taken while no server had any key.
func KeptOutside(rec *Record) bool {
	return rec.Probe.Bound > 0 && bare(rec.Left) && bare(rec.Ended) && rec.ChangesBefore == len(rec.Changes) &&
		aftermath{reading{Record: rec}}.keptOutside()
}

// longestTTL is the longest time until a key with a TTL expires or, if a server does not list its keys, or a learnt key
// has no TTL, so that its value may say until when it counts, until the lock is free by its promise, and until its
// lease is over without its holder, a TTL at least. key names the key in a sentence.
func (r aftermath) longestTTL() (longest time.Duration, key string) {
	for _, s := range asked(r.Left) {
		if !s.Listed || r.Learnt && slices.ContainsFunc(s.Keys, func(k trace.Key) bool { return k.TTL == 0 }) {
			longest = max(longest, r.sc.Lock.TTL, r.terms.LeaseTTL)
			if term := r.terms.Promise.FreeWithin; term != promise.TermAnyTime {
				longest = max(longest, r.length(term))
			}
		}
		for _, k := range s.Keys {
			if k.TTL > longest {
				longest, key = k.TTL, fmt.Sprintf(" The key %s on %s has %v to live: is its TTL in the right unit, and a length "+
					"of time?",
					trace.Name(k.Name), s.Name, k.TTL.Round(time.Second))
			}
		}
	}
	return longest, key
}

// longestWait is how long the probe may wait, but for a backoff and its messages. One whose backoff is not known may
// pause for as long as it has waited: see [checker.Timing.Growing]. It need not wait for a key that outlives every
// lease, which lasting names: it asks as long as a client asks.
func (r aftermath) longestWait() (wait time.Duration, lasting string) {
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
func (r aftermath) keptOutside() bool {
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

// leftovers are the keys of the lock that were there before the probe asked. A key may
// exist, until its TTL, when its holder crashed, when a release or an acquire ended
// without an answer, or when the network was cut meanwhile.
func (r aftermath) leftovers() (all []checker.Leftover) {
	var names []string
	for _, resource := range r.sc.Workload.Resources {
		names = append(names, r.Keys[resource]...)
	}
	for _, s := range asked(r.Left) {
		for _, k := range s.Keys {
			if slices.Contains(names, k.Name) {
				owner := r.ownerOf(s.Name, k)
				all = append(all, checker.Leftover{Server: s.Name, Key: k.Name, Left: k.TTL, Owner: owner,
					Struck: r.struckKey(owner, s.Name)})
			}
		}
	}
	return all
}

// ownerOf is the client that has set the value of a key, also if the server has it
// from another one. It is empty if that is not known.
func (r aftermath) ownerOf(server string, k trace.Key) string {
	value := ""
	for _, c := range slices.Backward(r.Changes[:r.ChangesBefore]) {
		switch {
		case c.Key != k.Name || c.Change == trace.KeyProlonged:
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

// struckKey reports whether a fault may have left a key of an owner on a server, which no lock could have removed.
// That a fault struck somewhere else is no excuse.
func (r aftermath) struckKey(owner, server string) bool {
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired && faults.ClassOf(f.Action).LeavesKey() && r.strikesAt(f.Action, owner, server) {
			return true
		}
	}
	return false
}

// strikesAt reports whether an action concerns a client, the server, or the link
// between them.
func (r reading) strikesAt(a faults.Action, owner, server string) bool {
	form, _ := faults.Open(a)
	if between, and := r.sides(form); between != nil {
		return owner == "" || crosses(between, and, owner, []string{server})
	}
	for _, field := range form.Fields {
		if name, ok := field.Holds.(faults.Name); ok && (*name.To == owner || r.isServer(*name.To)) {
			return true
		}
	}
	return false
}

// unreachable are the servers that faults cut off until the world is healed.
// excused says that another fault lasts as long.
func (r aftermath) unreachable() (lost []string, excused bool) {
	for i, f := range r.sc.Faults {
		if !r.Faults[i].Fired {
			continue
		}
		form, _ := faults.Open(f.Action)
		if _, and := form.Sides(); form.Cuts && form.UntilHealed() && r.onlyServers(and) {
			lost = append(lost, and...)
		} else {
			excused = excused || form.UntilHealed() || form.Stays
		}
	}
	slices.Sort(lost)
	return slices.Compact(lost), excused
}
