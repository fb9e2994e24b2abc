package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/lock/promise"
)

// Timing is what the idle time of a lock is computed from: see [Facts.IdleSeconds].
type Timing struct {
	// At has the instant of each position, beginning with position 1.
	At []time.Duration
	// Away has the absences of each client. They need not be in order.
	Away map[string][]Absence
	// Grace is how long a lock that is free may take until a client has it: one
	// backoff and one round trip.
	Grace time.Duration
	// Growing says that the backoff is not known, and may grow with each try: then the
	// Grace is counted from when the client next sends something ([Timing.Sends]) after
	// the lock is to be free, but no later than as long after that as the client had
	// waited by then. A backoff that doubles is no longer than that and the first one. Where it does not wait any more
	// then, the Grace is counted from that instant.
	Growing bool
	// Within says how long after each cause the lock may stay taken although no
	// client has it: the package doc says what a cause is. One without an entry allows no time. [promise.CauseOther]
	// allows it from the beginning of the idle time: that is the first deadline. Each other cause, in the order of their
	// instants, moves the deadline to Within and Grace after it, if that is later, and if it occurred at the deadline that
	// stood until then, or before. So what happens when the lock is overdue, such as that the client that waits gives up,
	// crashes or is paused, excuses nothing. An idle time is overdue if it ends after the last deadline. If the client was
	// away when a cause occurred, and did not crash, the time is counted from its return: until then, what it had sent may
	// be under way.
	Within map[promise.Cause]time.Duration

	// Leaderless is how long the lock may have no leader after each cause, whatever it is: 0 if that is not promised. Only
	// [Facts.LeaderlessOverdue] needs it.
	Leaderless time.Duration

	// Lease is the TTL of a lease, and Trips how long the requests of one call take at
	// most on a whole network. Steady says that no fault took keys from the servers,
	// ended or replaced one, or moved a clock of one; Prompt that no time limit of a
	// request ends within Trips; InOrder that messages of a client that is not away
	// arrive in the order in which they were sent. Only [promise.Duty] needs the five, and what
	// follows.
	Lease, Trips            time.Duration
	Steady, Prompt, InOrder bool
	// Undisturbed is how long nothing went wrong: the instant at which the first fault struck, or one after the end of
	// the run. Alone is how long a client may wait for a lock that has been released and that no other client asks for;
	// 0 if that is not known. [Facts.FailedCalls] and [Facts.Withheld] need them.
	Undisturbed, Alone time.Duration
	// Resends says that a client sends a request again by itself where no answer comes, and does not tell: what it had
	// sent before may enter a reentrant lock when it has left it, and nothing but an absence shows that.
	Resends bool
	// Majority is how long a majority of the nodes of a lock over three or more was undisturbed: the instant at which
	// the faults that had struck first concerned more than a minority of its nodes and the links to them, or one after the
	// end of the run. One before Undisturbed, such as 0, says nothing. Struck are the nodes of that minority, in the order
	// in which faults struck them. [Facts.FailedCalls] needs both.
	Majority time.Duration
	Struck   []Struck
	// Sends has the instants at which each client sent something to a server of the
	// lock, in order. Pace says how much that may be; nil means that it is not known.
	Sends map[string][]time.Duration
	Pace  *Pace
	// Heard has the instants at which something from a server of the lock reached each client, in order.
	Heard map[string][]time.Duration
	// Unlinked has the times of each client from the end of an absence, not a crash, that may have broken a connection to
	// a server of the lock, to when it heard from that server again: meanwhile it may meet a connection that has broken
	// without its notice, or wait before it makes another. They need not be in order.
	Unlinked map[string][]Span
}

// Struck is a node that a fault concerned, itself or the links to it.
type Struck struct {
	// Node is its name.
	Node string
	// At is when the first such fault struck.
	At time.Duration
}

// Pace is how often a client asks the servers.
type Pace struct {
	// Servers is how many servers each request of the lock goes to.
	Servers int
	// Pause is the shortest pause between two tries of a client that waits, Renewal
	// that between two renewals of a holder.
	Pause, Renewal time.Duration
	// Extends is how often a section extends its lease.
	Extends int
}

// Absence is a span in which a client did not run, or could not reach enough
// servers.
type Absence struct {
	Span
	// Crash says that the client ended, and began anew at the end of the span if
	// it did. Otherwise it, or its network, went on with what was under way.
	Crash bool
	// Running says that the client ran all the time, and only could not reach enough
	// servers.
	Running bool
	// Behind says that the client ran and reached the servers that it asks, and that only
	// the links among servers were in trouble.
	Behind bool
}

// idleness is what [idle] finds.
type idleness struct {
	total   time.Duration
	overdue *tally // idle times that lasted longer than their cause allows
}

// overdueTime is an idle time that lasted too long.
type overdueTime struct {
	lasted  time.Duration
	explain func() Reason
}

// overdueTimes are idle times that lasted too long, of which the longest is told first.
type overdueTimes []overdueTime

func (all overdueTimes) into(found *tally) {
	slices.SortStableFunc(all, func(a, b overdueTime) int { return cmp.Compare(b.lasted, a.lasted) })
	for _, l := range all {
		found.add(l.explain)
	}
}

// idle finds the times in which a client waited for a lock that no client had:
// the context of its Acquire had not ended, it ran and reached the servers, no client claimed the lock or believed
// that it had it, none was releasing it, and no reply to an Acquire waited for a
// client that was away. It adds how much longer they might have been.
func idle(h History, slack *leastSlack) idleness {
	found := idleness{overdue: &tally{more: "times in which nobody had the lock and nobody got it"}}
	t := h.Timing
	if t == nil {
		return found
	}
	var all []Span
	var late overdueTimes
	for _, resource := range h.resources() {
		w := newWatch(h, resource)
		before := len(late)
		for _, a := range w.acquires {
			for _, s := range w.idleFor(a) {
				from := w.due(a, s.From)
				cause, deadline := w.deadline(a, s)
				last := max(from, deadline)
				slack.add(Slack{Kind: SlackWait, Value: int64(last - s.To), Client: a.client, Resource: resource, From: s.To,
					To: last}, a.invoked)
				if from >= s.To {
					continue
				}
				all = append(all, Span{from, s.To})
				if s.To > last {
					s.From = from
					late = append(late, overdueTime{s.To - from, func() Reason { return t.idleReason(resource, a, s, cause) }})
				}
			}
		}
		if len(late) == before {
			w.overdueForAll(h, resource, &late)
		}
	}
	late.into(found.overdue)
	for _, s := range joined(all) {
		found.total += s.To - s.From
	}
	return found
}

// keptOnPurpose is what a lock says that stays taken after a release.
const keptOnPurpose = " If the lock is meant to be kept for a while after it was released, let its promise say so: " +
	"FreeAfter, for promise.CauseOther."

func (t *Timing) idleReason(resource Resource, a waiting, s Span, cause promise.Cause) Reason {
	r := Reason{Text: fmt.Sprintf("%s waited for %s from step %d on, and from %v to %v nobody had it and nobody got it",
		a.client, resource, a.invoked,
		s.From.Round(time.Microsecond), s.To.Round(time.Microsecond)), At: []Pos{a.invoked}}
	if began := t.at(s.From); began > a.invoked {
		r.At = append(r.At, began)
	}
	if cause == promise.CauseOther {
		r.Text += "." + keptOnPurpose
	} else {
		r.Text += fmt.Sprintf(", longer than the promise allows after: %s.", cause)
	}
	return r
}

// resources are those of the grants and attempts, in order.
func (h History) resources() []Resource {
	var all []Resource
	for _, g := range h.Grants {
		all = append(all, g.Resource)
	}
	for _, a := range h.Attempts {
		all = append(all, a.Resource)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// watch has the history of one resource in time.
type watch struct {
	*Timing
	acquires   []waiting
	taken      []Span      // some client claims, believes, or is releasing
	held       []Span      // some client claims or believes, or its release may be under way
	departures []departure // in the order of their instants
}

// waiting is a pending Acquire.
type waiting struct {
	client  string
	invoked Pos
	span    Span
	until   time.Duration // the client wants the lock until then: its context ends before the Acquire returns, or with it
}

// departure is an end after which the lock may stay taken for a while.
type departure struct {
	client string
	from   time.Duration
	until  time.Duration // what was under way then may take effect until then
	cause  promise.Cause
	gaveUp bool // an Acquire returned without a grant
	took   bool // by the record of the nodes it took the lock
	// settled is from when on it is no cause of an idle time that begins: see [History.settled]. 0 if it is of any.
	settled time.Duration
}

// concerns reports whether a departure may be a cause of an idle time.
func (d departure) concerns(s Span) bool { return d.settled == 0 || s.From < d.settled }

// newWatch collects what happened to a resource.
func newWatch(h History, resource Resource) *watch {
	w := &watch{Timing: h.Timing}
	for _, g := range h.Grants {
		if g.Resource != resource {
			continue
		}
		w.ask(g.Client, g.Invoked, g.Granted, 0)
		belief := g.Belief(h.Care)
		w.take(g.Granted, max(g.Claim().end(), belief.end()))
		w.held = append(w.held, w.taken[len(w.taken)-1])
		if g.Released > 0 {
			end := cmp.Or(g.ReleaseReturned, g.Crashed, never)
			w.take(g.Released, end)
			s := w.taken[len(w.taken)-1]
			if !h.awayDuring(g.Client, s.From, s.To) { // the round trips of a call, and not what its release waits for besides
				s.To = min(s.To, s.From+w.Trips)
			}
			w.held = append(w.held, s)
		}
		w.leave(g)
	}
	for _, a := range h.Attempts {
		if a.Resource != resource {
			continue
		}
		w.ask(a.Client, a.Invoked, a.Returned, a.ContextEnded)
		if a.Returned > 0 {
			cause := promise.CauseCancelled
			if a.Outcome == OutcomeUnknown {
				cause = promise.CauseLostReply
			}
			w.depart(a.Client, w.when(a.Returned), cause)
			w.departures[len(w.departures)-1].gaveUp = true
		}
	}
	w.absent(h, resource, true, promise.CauseCrash)
	late := func() { w.absent(h, resource, false, promise.CauseLostReply) } // what it had sent is lost, or arrives later
	if h.Timing.Resends {
		late()
	}
	if h.Entry == EntryReentrant {
		w.leaveAgain(h, resource)
	}
	if !h.Timing.Resends {
		late()
	}
	w.taken = joined(w.taken)
	w.sort()
	return w
}

// sort puts the departures in order.
func (w *watch) sort() {
	slices.SortFunc(w.departures, func(a, b departure) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.cause, b.cause), cmp.Compare(a.client, b.client))
	})
}

// when is the instant of a position; that of the last one for a later position.
func (t *Timing) when(p Pos) time.Duration {
	if len(t.At) == 0 {
		return 0
	}
	return t.At[min(int(p), len(t.At))-1]
}

// ask adds a pending Acquire, and when its context ended; 0 if it did not.
func (w *watch) ask(client string, invoked, returned Pos, ended time.Duration) {
	span := w.pending(client, invoked, returned)
	w.acquires = append(w.acquires, waiting{client, invoked, span, min(cmp.Or(ended, span.To), span.To)})
}

func (w *watch) take(from, to Pos) {
	w.taken = append(w.taken, Span{w.when(from), w.when(to)})
}

// leave adds how a grant ended.
func (w *watch) leave(g Grant) {
	if g.Crashed > 0 {
		w.depart(g.Client, w.when(g.Crashed), promise.CauseCrash)
	}
	if g.ReleaseFailed {
		w.depart(g.Client, w.when(g.ReleaseReturned), promise.CauseFailedRelease)
	}
	for _, end := range []Pos{g.Until, g.Lost} {
		if end > 0 {
			w.depart(g.Client, w.when(end), promise.CauseExpiry)
			w.departures[len(w.departures)-1].until += w.when(g.Granted) - w.when(g.Invoked)
		}
	}
}

// absent adds the absences of the clients, those by a crash or the others.
func (w *watch) absent(h History, resource Resource, crash bool, cause promise.Cause) {
	for client, absences := range w.Away {
		for _, s := range absences {
			if s.Crash == crash {
				w.depart(client, s.From, cause)
				w.departures[len(w.departures)-1].settled = h.settled(client, resource, s)
			}
		}
	}
}

// settled is when a client that had been away had released the lock that it was granted since, with success: by then
// all that it had sent before had arrived, and by the record of the one server that has the lock nothing of it took the
// lock later. It is 0 for none, and for an absence by a crash.
func (h History) settled(client string, resource Resource, away Absence) (at time.Duration) {
	t := h.Timing
	if away.Crash || !t.Steady || h.Voters > 1 {
		return 0
	}
	for _, g := range h.Grants {
		if g.Client != client || g.Resource != resource || !g.ReleaseSucceeded || g.ReleaseReturned == 0 ||
			t.when(g.Granted) <= away.From || t.when(g.Released) <= away.To+t.Trips || !h.heldOnNodes(g) ||
			h.enteredMeanwhile(g) {
			continue
		}
		if released := t.when(g.ReleaseReturned); at == 0 || released < at {
			at = released
		}
	}
	if slices.ContainsFunc(h.Holdings, func(s Holding) bool {
		return s.Client == client && s.Resource == resource && t.when(s.From) > away.From && !h.granted(s)
	}) {
		return 0
	}
	return at
}

// heldOnNodes reports whether the record of the nodes has the lock at its client when a grant was made.
func (h History) heldOnNodes(g Grant) bool {
	return slices.ContainsFunc(h.Holdings, func(s Holding) bool {
		return s.Client == g.Client && s.Resource == g.Resource && s.From <= g.Granted && (s.To == 0 || s.To > g.Granted)
	})
}

// enteredMeanwhile reports whether the client of a grant had another one of the lock, or was about to, before it had
// released this one.
func (h History) enteredMeanwhile(g Grant) bool {
	return slices.ContainsFunc(h.Grants, func(other Grant) bool {
		return other.ID != g.ID && other.Client == g.Client && other.Resource == g.Resource &&
			other.Invoked <= g.ReleaseReturned && cmp.Or(other.ReleaseReturned, never) >= g.Invoked
	})
}

// leaveAgain adds the later releases of clients that may have left an entry behind, for
// each cause that is known so far.
func (w *watch) leaveAgain(h History, resource Resource) {
	before := w.departures
	for _, g := range h.Grants {
		if g.Resource != resource || g.ReleaseReturned == 0 {
			continue
		}
		at := w.when(g.ReleaseReturned)
		for _, d := range before {
			if d.client == g.Client && d.cause != promise.CauseExpiry && d.from <= at && (d.settled == 0 || at < d.settled) {
				w.depart(g.Client, at, d.cause)
				w.departures[len(w.departures)-1].settled = d.settled
			}
		}
		if slices.ContainsFunc(h.Grants, func(outer Grant) bool {
			return outer.Resource == resource && outer.Client == g.Client && outer.leaseEndedBy(g.ReleaseReturned) &&
				(outer.ReleaseReturned == 0 || outer.ReleaseReturned > g.ReleaseReturned)
		}) {
			w.depart(g.Client, at, promise.CauseExpiry)
		}
	}
}

// leaseEndedBy reports whether a lease had ended, or was lost, by a position.
func (g Grant) leaseEndedBy(p Pos) bool {
	return g.Until > 0 && g.Until <= p || g.Lost > 0 && g.Lost <= p
}

// depart adds a departure. What a client has sent before or while it is away may take
// effect when it is back.
func (w *watch) depart(client string, at time.Duration, cause promise.Cause) {
	w.departures = append(w.departures, departure{client: client, from: at, until: w.back(client, at), cause: cause})
}

// back is when a client that is away at an instant is back; the instant for one that is not.
func (w *watch) back(client string, at time.Duration) time.Duration {
	until := at
	for _, s := range w.Away[client] {
		if s.From <= at && !s.Crash {
			until = max(until, s.To)
		}
	}
	return until
}

// idleFor are the idle times of a pending Acquire, from when the lock is free.
func (w *watch) idleFor(a waiting) []Span {
	busy := slices.Clone(w.taken)
	for _, other := range w.acquires { // a is one of them; a reply may wait for a client that is away
		for _, s := range w.Away[other.client] {
			if both := (Span{max(s.From, other.span.From), min(s.To, other.span.To)}); both.From < both.To {
				busy = append(busy, both)
			}
		}
	}
	var out []Span
	from := a.span.From
	add := func(to time.Duration) {
		if to > from {
			out = append(out, Span{from, to})
		}
	}
	for _, s := range joined(busy) {
		if s.From >= a.until {
			break
		}
		add(min(s.From, a.until))
		from = max(from, s.To)
	}
	add(a.until)
	return out
}

// deadline is when an idle time must be over, with the last cause that allows it to
// last until then: promise.CauseOther where none does.
func (w *watch) deadline(a waiting, s Span) (promise.Cause, time.Duration) {
	cause, deadline := promise.CauseOther, w.due(a, s.From+w.Within[promise.CauseOther])
	for _, d := range w.departures {
		if d.from > deadline {
			break
		}
		if !d.concerns(s) {
			continue
		}
		if end := w.due(a, d.until+w.Within[d.cause]); end > deadline {
			cause, deadline = d.cause, end
		}
	}
	return cause, deadline
}

// due is when a client that waits must have a lock that is free from an instant on.
func (w *watch) due(a waiting, free time.Duration) time.Duration {
	if w.Growing && free > a.span.From && free < a.until {
		asks := 2*free - a.span.From
		if i, _ := slices.BinarySearch(w.Sends[a.client], free); i < len(w.Sends[a.client]) {
			asks = min(asks, w.Sends[a.client][i])
		}
		free = asks
	}
	return free + w.Grace
}

// joined are the spans in order, those that overlap or touch as one.
func joined(spans []Span) []Span {
	sorted := slices.Clone(spans)
	slices.SortFunc(sorted, func(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var out []Span
	for _, s := range sorted {
		if n := len(out); n > 0 && s.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}
