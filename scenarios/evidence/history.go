package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/lock/promise"
	"locksim/scenarios/file"
)

// History is what the clients of a run saw, with the decisions of the store, the ground truth of the servers, and
// what excuses a lock: what [checker.Judge] judges. The scenario is the one that was played, and has as many faults
// as the record. Nothing of the arguments is modified, and the history shares slices with the record.
func History(sc *file.Scenario, terms Terms, rec *Record) checker.History {
	return read(sc, terms, rec).history()
}

func (r reading) history() checker.History {
	h := checker.History{
		Care: r.care(), Final: r.final(), SectionWrites: r.sectionWrites(), Fill: r.fills(), Leads: r.leads(),
		Stock:   r.stock(),
		Ordered: r.terms.Promise.Order == promise.FIFO,
		Fence:   r.terms.Fence, Last: slices.Clone(r.Last), TakenNamed: r.terms.Named, Entry: r.entry(), Queue: r.queue(),
		Duties: r.duties(),
	}
	if r.Live {
		for i, at := range r.Timeline.At {
			span := checker.Span{From: at, To: at}
			if r.Timeline.Within != nil {
				span.To += r.Timeline.Within[i]
			}
			h.Within = append(h.Within, span)
		}
	}
	answers := r.answers()
	for _, c := range r.Clients {
		for i := range c.Grants {
			r.addGrant(&h, &c.Grants[i], answers)
		}
		h.Attempts = append(h.Attempts, c.Attempts...)
		h.Tries = append(h.Tries, c.Tries...)
	}
	h.Panics = r.panics()
	r.addDecisions(&h)
	h.Calm = r.calm()
	timing := r.timing()
	r.addAttemptCalls(&h, timing)
	for _, resource := range r.sc.Workload.Resources {
		r.groundTruth(resource).into(&h)
		r.followQueue(resource, timing.Away).into(&h)
	}
	h.Voters = r.terms.Voters
	h.Timing, h.ManyKeys, h.SessionKeys = timing, r.learntMany(), r.learntSessions()
	h.Ending = aftermath{r}.ending()
	if r.terms.Lease == LeaseHeld {
		h = h.HeldUntilTold(cmp.Or(r.terms.Detection, r.sc.Lock.TTL))
	}
	if r.Live {
		h = h.OfClients()
	}
	return h
}

// addGrant adds a grant with what was done under it.
func (r reading) addGrant(h *checker.History, seen *Grant, answers answers) {
	g := seen.Grant
	g.ID = len(h.Grants) + 1
	g.Crashed = r.endAfter(g.Client, g.Granted)
	if r.looks() && r.sc.Workload.ChecksUntil == checker.CareNever {
		g.LostSeen = seen.LossChecked
	}
	if seen.LostAtOnce {
		g.Lost = g.Granted
		g.LostBefore = seen.LossKnown || !r.Live && answers.just(g.Client, seen.Returned, r.terms.Late)
	}
	if seen.OverAtOnce { // a lease that was over on arrival is no claim, although the clock is read a little later
		g.Until = g.Granted
		g.OverBefore = !r.Live && answers.just(g.Client, seen.Returned, 0)
	}
	g.Known = r.known(g)
	if r.has(promise.DutyKeeps) {
		g.Unkept = append(slices.Clip(g.Unkept), seen.notices()...)
	}
	h.Grants = append(h.Grants, g)
	first := len(h.Ops)
	h.Ops = append(h.Ops, seen.Ops...)
	for i := range h.Ops[first:] {
		h.Ops[first+i].Grant = g.ID
	}
	if n := len(h.Ops); seen.Unfinished {
		h.Ops[n-1].Outcome = checker.OutcomeUnknown
	}
	h.Calls = append(h.Calls, seen.Calls...)
}

// notices are how a lock told of the beginning or of the end of one lease more than once (F68), as
// [checker.Grant.Unkept].
func (g *Grant) notices() []string {
	var out []string
	note := func(n int, format string) {
		if n > 1 {
			out = append(out, fmt.Sprintf(format, n))
		}
	}
	if g.LostValues > 0 {
		out = append(out, fmt.Sprintf("Lost of the lease was not closed: it had %s, and only one of those who wait for the "+
			"loss receives a value",
			prose.Count(g.LostValues, "value")))
	}
	note(g.Started, "the election told it %d times that it leads, in one term")
	note(g.Stopped, "the election told it %d times that it does not lead any more, in one term")
	return out
}

// final are the values of the registers at the end.
func (r reading) final() map[checker.Cell]string {
	final := make(map[checker.Cell]string, len(r.Final))
	for _, f := range r.Final {
		final[checker.Cell{Resource: checker.Resource(f.Resource), Register: f.Register}] = f.Value
	}
	return final
}

// sectionWrites is how many registers a section writes.
func (r reading) sectionWrites() int {
	if r.terms.Section {
		return len(r.terms.Writes)
	}
	return len(r.sc.Workload.Writes())
}

// care is how the clients notice a loss: a client that looked has seen what it looked
// for, whatever it checks otherwise.
func (r reading) care() checker.Care {
	if r.looks() {
		return checker.CareSteps
	}
	return r.sc.Workload.ChecksUntil
}

// addAttemptCalls adds the attempts whose contexts had a deadline, and ended, to the calls that had to return. A
// cancellation does not end a request of go-redis.
func (r reading) addAttemptCalls(h *checker.History, t *checker.Timing) {
	if w := r.sc.Workload; !w.Deadline || w.Request == 0 && w.AcquireWithin == 0 {
		return
	}
	for _, a := range h.Attempts {
		if a.ContextEnded > 0 && a.Returned > 0 {
			h.Calls = append(h.Calls, checker.Call{Client: a.Client, Resource: a.Resource, What: "Acquire", About: a.Invoked,
				Called: t.At[a.Invoked-1], Due: a.ContextEnded + r.returnsWithin(), Returned: t.At[a.Returned-1]})
		}
	}
}

// entry says whether a client may hold the lock more than once, or all may be in at once.
func (r reading) entry() checker.Entry {
	if r.terms.Promise.Unlocked {
		return checker.EntryShared
	}
	if r.Ownerless {
		return checker.EntryOwnerless
	}
	if r.sc.Workload.Nested > 0 || r.sc.Lock.Owner == file.OwnerShared {
		return checker.EntryReentrant
	}
	return checker.EntryExclusive
}

// queue says in which order waiters are granted the lock.
func (r reading) queue() checker.Queue {
	if r.Queues != nil {
		return checker.QueueFair
	}
	return checker.QueueNone
}

// duties are what the calls of the lock do, by its promise.
func (r reading) duties() []promise.Duty {
	var out []promise.Duty
	for _, d := range r.terms.Promise.Duties {
		switch {
		// it does not know the end that is judged
		case d == promise.DutyTells && r.terms.Lease != "" && r.terms.Lease != LeaseUntil:
			continue
		case d == promise.DutyReturns && r.sc.Lock.Client == file.ClientStock: // its requests last longer than their contexts
			continue
		case d == promise.DutyWakes && r.sc.Lock.Wait != file.WaitNotify: // a waiter asks by itself
			continue
		}
		out = append(out, d)
	}
	return out
}

// addDecisions adds the decision of the store to each operation.
func (r reading) addDecisions(h *checker.History) {
	decided := map[string]Decision{}
	for _, d := range r.Decisions {
		decided[d.Op] = d
	}
	for i := range h.Ops {
		if d, ok := decided[h.Ops[i].ID]; ok {
			h.Ops[i].Applied, h.Ops[i].Accepted = d.At, d.Refused == ""
		}
	}
}

// answers are the instants at which each client received something, in order. Each event has an instant of its own:
// what a client knows in the instant of an answer, and has not learned by it, it knew before.
type answers map[string][]time.Duration

func (r reading) answers() answers {
	out := answers{}
	for _, m := range r.Timeline.Messages {
		if m.Received {
			out[m.Client] = append(out[m.Client], r.Timeline.when(m.At))
		}
	}
	return out
}

// just reports whether the code of a client has had an answer in this instant, which it has up to so late after it
// came.
func (a answers) just(client string, at, late time.Duration) bool {
	i, _ := slices.BinarySearch(a[client], at+1)
	return i > 0 && at-a[client][i-1] <= late
}

// endAfter is the first step after a position at which a fault ended the work of a client; 0 for none: a process
// crashed, or its worker was killed. One that has ended by itself has released before.
func (r reading) endAfter(client string, p checker.Pos) checker.Pos {
	for _, e := range r.Timeline.Ends {
		if e.Name == client && !e.Exit && e.At > p {
			return e.At
		}
	}
	return 0
}

// panics are the panics of the lock's code.
func (r reading) panics() []checker.Panic {
	var out []checker.Panic
	for _, e := range r.Timeline.Ends {
		if e.Panic != "" {
			out = append(out, checker.Panic{Client: e.Name, At: e.At, Text: e.Panic})
		}
	}
	return out
}
