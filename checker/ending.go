package checker

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Liveness says whether the lock could be taken again when all was over.
type Liveness string

// The states of liveness.
const (
	// LivenessOK means that a single client could acquire the lock in time, or that nothing is known of it.
	LivenessOK Liveness = "ok"
	// LivenessStuck means that it could not, or that a client waits or loops for ever.
	LivenessStuck Liveness = "stuck"
	// LivenessLeaked means that a key of the lock outlived its use.
	LivenessLeaked Liveness = "leaked"
)

// Ending is what was left of the lock when the workload was over and the network was whole again, and what became of
// a lone client, the probe, that asked for it then. [Facts.Liveness] is decided by it. The zero value says that
// nothing is known.
//
// The lock is stuck if a client loops (Loops), or waits for ever in an Acquire (Waiting); if one waited in an Acquire
// for longer than a lease when the time of the workload was over, although only a minority of the nodes was out of
// reach (CutOff); or if the probe did not get it in the time that it had (Asked, Granted). Otherwise it leaked if a
// key remained that nothing excuses (Leftovers).
type Ending struct {
	// Loops says in a sentence which client loops without an end; "" if none does.
	Loops string
	// Waiting are the calls that had not returned when the time of the workload was over.
	Waiting []Waiting
	// Until the time of the workload was over, faults kept the servers CutOff from the clients, of the Nodes that the
	// lock needs; Kept says that another fault lasted as long, which may explain that a call had not returned. Of a call
	// that does return later it is asked only if CutOff has a server, fewer than half of the Nodes, and nothing else is
	// Kept; and only if a probe asked.
	CutOff []string
	Nodes  int
	Kept   bool
	// Asked is how long the probe asked for the lock; 0 if there was none. Granted says that it got it, Problem is the
	// last error that it met. Lasting names a key in a sentence that lives longer than the probe could ask, and begins
	// with a space; "" for none.
	Asked            time.Duration
	Granted          bool
	Problem, Lasting string
	// Leftovers are the keys of the lock that were there before the probe asked, on the servers that clients ask, in
	// order.
	Leftovers []Leftover
	// Learnt says that the keys were learnt: the lock does not say what it does with them. Then a key without an end is no
	// leak if the probe was granted the lock, and keys that end by themselves are none on so few servers that most of the
	// [History.Voters] are free.
	Learnt bool
	// Gone are the clients that had crashed, or were granted the lock after their end.
	Gone []string
}

// Waiting is a call of a client that had not returned when the time of the workload was over. Then the network was
// made whole.
type Waiting struct {
	// Client made the Call, such as "Acquire" or "Release", at the step Since, for Resource. Call is "" for a client
	// that was in none; then Did says in words what it had done.
	Client   string   `json:"client"`
	Call     string   `json:"call,omitempty"`
	Resource Resource `json:"resource,omitempty"`
	Did      string   `json:"did,omitempty"`
	Since    Pos      `json:"since,omitempty"`
	// Stored says that the client had sent an operation to the store.
	Stored bool `json:"stored,omitempty"`
	// For is how long it had waited by then. Ever says that it never returned, also long after the network was whole.
	For  time.Duration `json:"for,omitempty"`
	Ever bool          `json:"ever,omitempty"`
}

// says tells of a call that never returned.
func (w Waiting) says() string {
	did := w.Did
	switch w.Call {
	case "":
	case "Acquire":
		did = "asked for " + w.Resource.String()
	default:
		did = "called " + w.Call + " of " + w.Resource.String()
	}
	return fmt.Sprintf("%s %s at step %d and waits for ever: %v later it has no answer, although the network is whole.",
		w.Client, did, w.Since, w.For.Round(time.Second))
}

// overdue are the calls that had not returned in time, although most of the servers of the lock answered.
func (h History) overdue() []Waiting {
	e := h.Ending
	minority := e.Asked > 0 && !e.Kept && len(e.CutOff) > 0 && 2*len(e.CutOff) < e.Nodes
	return slices.DeleteFunc(slices.Clone(e.Waiting), func(w Waiting) bool {
		return !w.Ever && !(minority && h.Timing != nil && w.For > h.Timing.Lease)
	})
}

// hungCalls finds the calls other than an Acquire that had not returned in time.
func hungCalls(h History) *tally {
	found := &tally{more: "calls that had not returned"}
	for _, w := range h.overdue() {
		switch {
		case w.Call == "" || w.Call == "Acquire":
		case w.Ever:
			found.add(func() Reason { return Reason{Text: w.says(), At: []Pos{w.Since}} })
		default:
			found.add(func() Reason {
				return Reason{Text: fmt.Sprintf("%s called %s of %s at step %d, and it had not returned after %v, although %d of "+
					"%d servers answer.",
					w.Client, w.Call, w.Resource, w.Since, w.For.Round(time.Second), h.Ending.Nodes-len(h.Ending.CutOff),
					h.Ending.Nodes), At: []Pos{w.Since}}
			})
		}
	}
	return found
}

// Leftover is a key of the lock that was there when the workload was over.
//
// A key without an end is a leak. One with an end is excused if a fault may have left it there (Struck), or if its
// owner, or any client if the owner is not known, could not take care of it: it is in [Ending.Gone]; a release of it
// failed; or one of its requests for the lock has an unknown outcome. Of a key that was learnt it is enough that a
// request or a release did not end as it should: an attempt whose context had ended, a grant that was not released
// with success or, where there are several voters, one that was, under a context that had ended.
type Leftover struct {
	Server, Key string
	// Left is the time that it had to live; 0 if it has no end.
	Left time.Duration
	// Owner is the client that set it; "" if that is not known.
	Owner string
	// Struck says that a fault which can leave a key behind struck its owner, the server or the link between them.
	Struck bool
}

// Liveness decides by the [Ending] whether the lock could be taken again. why is a sentence; it is "" for LivenessOK.
func (h History) Liveness() (l Liveness, why string) {
	l, r := h.liveness()
	return l, r.Text
}

// liveness is [History.Liveness], with what the sentence asks.
func (h History) liveness() (Liveness, Reason) {
	e := h.Ending
	waits := h.overdue()
	var ever []string
	for _, w := range waits {
		if w.Ever && (w.Call == "" || w.Call == "Acquire") {
			ever = append(ever, w.says())
		}
	}
	acquire := slices.IndexFunc(waits, func(w Waiting) bool { return w.Call == "Acquire" })
	switch {
	case e.Loops != "":
		return LivenessStuck, Reason{Text: e.Loops}
	case len(ever) > 0:
		return LivenessStuck, Reason{Text: strings.Join(ever, " ")}
	case e.Asked == 0:
		return LivenessOK, Reason{}
	case acquire >= 0:
		w := waits[acquire]
		return LivenessStuck, Reason{Text: fmt.Sprintf("With %s out of reach, and all other nodes of %d reachable, "+
			"%s had not been granted %s after %v.",
			strings.Join(e.CutOff, ", "), e.Nodes, w.Client, w.Resource, w.For.Round(time.Second))}
	case !e.Granted:
		return LivenessStuck, Reason{Unit: e.Lasting != "", Text: fmt.Sprintf("With the network whole and no other client "+
			"there, a client asked for it for %v: %s.%s", e.Asked.Round(time.Millisecond), e.Problem, e.Lasting)}
	}
	if leaks := h.leaks(); len(leaks) > 0 && !h.onMinority(leaks) {
		return LivenessLeaked, Reason{Text: leaks[0].why()}
	}
	return LivenessOK, Reason{}
}

// leaks are the keys that nothing excuses.
func (h History) leaks() []Leftover {
	return slices.DeleteFunc(slices.Clone(h.Ending.Leftovers), func(l Leftover) bool {
		if l.Left == 0 {
			return h.Ending.Learnt && h.Ending.Granted
		}
		return l.Struck || h.unfinished(l.Owner)
	})
}

// unfinished reports whether a client, any if the name is "", could not take care of its keys.
func (h History) unfinished(owner string) bool {
	its := func(client string) bool { return owner == "" || client == owner }
	learnt := h.Ending.Learnt
	return slices.ContainsFunc(h.Ending.Gone, its) ||
		slices.ContainsFunc(h.Grants, func(g Grant) bool {
			// of several servers most are enough for a release, and its context may have ended before it asked all
			most := g.ReleaseContextEnded && h.Voters > 1
			return its(g.Client) && (g.ReleaseFailed || learnt && (!g.ReleaseSucceeded || most))
		}) ||
		slices.ContainsFunc(h.Attempts, func(a Attempt) bool {
			return its(a.Client) && (a.Outcome == OutcomeUnknown || learnt && a.ContextEnded > 0)
		})
}

// onMinority reports whether keys that were learnt, and end by themselves, are on so few of several servers that a
// majority is free: a release that most servers have carried out has freed the lock, and that the others are asked
// too, and in order, is no promise that a lock makes unless it names its keys. See WithFailFast of redsync.
func (h History) onMinority(leaks []Leftover) bool {
	on := map[string]bool{}
	for _, l := range leaks {
		if l.Left == 0 {
			return false
		}
		on[l.Server] = true
	}
	return h.Ending.Learnt && len(on) < (h.Voters+1)/2
}

func (l Leftover) why() string {
	if l.Left == 0 {
		return fmt.Sprintf("The key %s on %s has no TTL: nothing will ever free it.", l.Key, l.Server)
	}
	return fmt.Sprintf("The key %s on %s is still there, with %v to live, although every client has released or failed.",
		l.Key, l.Server, l.Left.Round(time.Millisecond))
}
