package play

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// history collects what the clients saw, with the decisions of the store and the
// ground truth of the nodes.
func (p *play) history(t *trace.Trace) checker.History {
	h := checker.History{
		Care: p.care(), Final: p.final, SectionWrites: len(p.section().Writes), Fill: p.fills(), Leads: p.leads(),
		TakenNamed: len(p.lock.Taken) > 0,
		Entry:      p.entry(), Queue: p.queue(), Duties: p.duties(),
	}
	if p.real {
		for _, e := range t.Events {
			h.Within = append(h.Within, checker.Span{From: e.At, To: e.At + e.Within})
		}
	}
	ends, answers := endings(t), answersOf(t)
	late := p.lock.late()
	for _, c := range p.clients {
		for _, g := range c.grants {
			g.ID = len(h.Grants) + 1
			g.Crashed = ends.after(g.Client, g.Granted)
			if p.looks() && p.sc.Workload.ChecksUntil == checker.CareNever {
				g.LostSeen = g.lossChecked
			}
			if g.lostAtOnce {
				g.Lost, g.LostBefore = g.Granted, g.lostBefore || !p.real && answers.just(g.Client, g.returnedAt, late)
			}
			if g.overAtOnce { // a lease that was over on arrival is no claim, although the clock is read a little later
				g.Until = g.Granted
			}
			if g.sent != nil { // the run ended before
				op := *g.sent
				op.Outcome = checker.OutcomeUnknown
				g.ops, g.sent = append(g.ops, op), nil
			}
			for i := range g.ops {
				g.ops[i].Grant = g.ID
			}
			if p.keeps() {
				g.inspectNotices()
			}
			g.ContextEnded, g.LeaseEnded = instant(g.ended), instant(g.over)
			h.Grants = append(h.Grants, g.Grant)
			h.Ops = append(h.Ops, g.ops...)
			h.Calls = append(h.Calls, g.calls...)
		}
		for _, a := range c.attempts {
			a.ContextEnded = instant(a.ended)
			h.Attempts = append(h.Attempts, a.Attempt)
		}
		h.Tries = append(h.Tries, c.tried...)
	}
	h.Panics = panics(t)
	p.addDecisions(&h)
	h.Calm = p.calm()
	timing := p.timing(t)
	p.addAttemptCalls(&h, timing)
	for _, resource := range p.resources() {
		p.groundTruth(t, resource).into(&h)
		p.followQueue(t, resource, timing.Away).into(&h)
	}
	h.Voters = p.lock.voters()
	h.Timing, h.ManyKeys, h.SessionKeys = timing, p.learntMany(), p.learntSessions()
	nameResources(&h)
	h.Liveness, h.LivenessWhy = p.probe.verdict()
	if p.lock.Lease == LeaseHeld {
		h = h.HeldUntilTold(cmp.Or(p.lock.Detection, p.sc.Lock.TTL))
	}
	if p.real {
		h = h.OfClients()
	}
	return h
}

// addAttemptCalls adds the attempts whose contexts had a deadline, and ended, to the calls that had to return. A
// cancellation does not end a request of go-redis.
func (p *play) addAttemptCalls(h *checker.History, t *checker.Timing) {
	if w := p.sc.Workload; !w.Deadline || w.Request == 0 && w.AcquireWithin == 0 {
		return
	}
	for _, a := range h.Attempts {
		if a.ContextEnded > 0 && a.Returned > 0 {
			h.Calls = append(h.Calls, checker.Call{Client: a.Client, Resource: a.Resource, What: "Acquire", About: a.Invoked,
				Called: t.At[a.Invoked-1], Due: a.ContextEnded + p.returnsWithin(), Returned: t.At[a.Returned-1]})
		}
	}
}

// instant is what [play.watchEnd] has stored; 0 for nil.
func instant(at *atomic.Int64) time.Duration {
	if at == nil {
		return 0
	}
	return time.Duration(at.Load())
}

// entry says whether a client may hold the lock more than once.
func (p *play) entry() checker.Entry {
	if p.sc.Workload.Nested > 0 || p.sc.Lock.Owner == file.OwnerShared {
		return checker.EntryReentrant
	}
	return checker.EntryExclusive
}

// queue says in which order waiters are granted the lock.
func (p *play) queue() checker.Queue {
	if p.lock.Queue != nil {
		return checker.QueueFair
	}
	return checker.QueueNone
}

// duties are what the calls of the lock do, by its promise.
func (p *play) duties() []promise.Duty {
	var out []promise.Duty
	for _, d := range p.lock.Promise.Duties {
		switch {
		case d == promise.DutyTells && p.lock.Lease != "" && p.lock.Lease != LeaseUntil: // it does not know the end that is judged
			continue
		case d == promise.DutyReturns && p.sc.Lock.Client == file.ClientStock: // its requests last longer than their contexts
			continue
		case d == promise.DutyWakes && p.sc.Lock.Wait != file.WaitNotify: // a waiter asks by itself
			continue
		}
		out = append(out, d)
	}
	return out
}

// nameResources writes the names of resources as texts show them: a verdict has sentences
// with them.
func nameResources(h *checker.History) {
	for i := range h.Grants {
		h.Grants[i].Resource = trace.Name(h.Grants[i].Resource)
	}
	for i := range h.Attempts {
		h.Attempts[i].Resource = trace.Name(h.Attempts[i].Resource)
	}
	for i := range h.Tries {
		h.Tries[i].Resource = trace.Name(h.Tries[i].Resource)
	}
	for i := range h.Calls {
		h.Calls[i].Resource = trace.Name(h.Calls[i].Resource)
	}
	for i := range h.Ops {
		h.Ops[i].Resource = trace.Name(h.Ops[i].Resource)
	}
	for i := range h.Holdings {
		h.Holdings[i].Resource = trace.Name(h.Holdings[i].Resource)
	}
	for i := range h.Votes {
		h.Votes[i].Resource = trace.Name(h.Votes[i].Resource)
	}
	for i := range h.Deletions {
		h.Deletions[i].Resource = trace.Name(h.Deletions[i].Resource)
	}
	final := map[checker.Cell]string{}
	for cell, value := range h.Final {
		cell.Resource = trace.Name(cell.Resource)
		final[cell] = value
	}
	h.Final = final
}

// addDecisions adds the decision of the store to each operation.
func (p *play) addDecisions(h *checker.History) {
	decided := map[string]Decision{}
	for _, d := range p.world.Ground().Decisions() {
		decided[d.Op] = d
	}
	for i := range h.Ops {
		if d, ok := decided[h.Ops[i].ID]; ok {
			h.Ops[i].Applied, h.Ops[i].Accepted = d.At, d.Refused == ""
		}
	}
}

// answers are the instants at which each client received something, in order. Each event has an instant of its own: what
// a client knows in the instant of an answer, and has not learned by it, it knew before.
type answers map[string][]time.Duration

func answersOf(t *trace.Trace) answers {
	out := answers{}
	for _, e := range t.Events {
		if _, ok := e.What.(trace.Receive); ok {
			out[e.Actor] = append(out[e.Actor], e.At)
		}
	}
	return out
}

// just reports whether the code of a client has had an answer in this instant, which it has up to so late after it came.
func (a answers) just(client string, at, late time.Duration) bool {
	i, _ := slices.BinarySearch(a[client], at+1)
	return i > 0 && at-a[client][i-1] <= late
}

// ends are the steps at which a fault ended the work of a client.
type ends map[string][]checker.Pos

// endings finds them: a process crashed, or its worker was killed. One that has ended by
// itself has released before.
func endings(t *trace.Trace) ends {
	out := ends{}
	for _, e := range t.Events {
		switch what := e.What.(type) {
		case trace.Crash, trace.KillWorker:
			if what == (trace.Crash{Mode: trace.Exit}) {
				continue
			}
			out[e.Peer] = append(out[e.Peer], checker.Pos(e.N))
		}
	}
	return out
}

// after is the first end of a client after a position; 0 for none.
func (e ends) after(client string, p checker.Pos) checker.Pos {
	for _, end := range e[client] {
		if end > p {
			return end
		}
	}
	return 0
}

// panics are the panics of a lock's code that a trace has.
func panics(t *trace.Trace) []checker.Panic {
	var out []checker.Panic
	for _, e := range t.Events {
		if c, ok := e.What.(trace.Crash); ok && c.Panic != "" {
			out = append(out, checker.Panic{Client: e.Peer, At: checker.Pos(e.N), Text: trace.Readable(c.Panic)})
		}
	}
	return out
}
