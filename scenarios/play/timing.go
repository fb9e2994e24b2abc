package play

import (
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// calm says that nothing can explain a lease that ends before its release: the
// schedule has no fault, and a message and the work under a grant take at most a
// quarter of a lease.
func (p *play) calm() bool {
	w, short := p.sc.Workload, p.sc.Lock.TTL/4
	return len(p.sc.Faults) == 0 && p.sc.World.Latency.Max <= short && w.Hold <= short && w.Nested == 0
}

// timing is what the idle time of the lock is computed from.
func (p *play) timing(t *trace.Trace) *checker.Timing {
	out := &checker.Timing{Away: p.absences(t), Slack: p.slack(), Within: p.freeWithin()}
	for _, e := range t.Events {
		out.At = append(out.At, e.At)
	}
	return out
}

// slack is how long a lock that is free may take until a client has it: the
// longest time between two attempts, and what it sends and receives.
func (p *play) slack() time.Duration {
	backoff := p.sc.Lock.Backoff.Max
	if !p.lock.FollowsSpec {
		backoff = max(backoff, retry)
	}
	return backoff + 8*p.sc.World.Latency.Max
}

// freeWithin is the promise of how soon the lock is free again. A clock may run
// slower by the drift that locks allow for.
func (p *play) freeWithin() map[checker.Cause]time.Duration {
	term := p.sc.Lock.TTL + p.sc.Lock.TTL/50
	if p.lock.Promise.FreeWithin == lock.TermTTLAndWaiter {
		term += p.sc.Lock.TTL
	}
	out := map[checker.Cause]time.Duration{}
	for _, c := range checker.Causes() {
		out[c] = term
	}
	// A lease ends earlier than the key by the drift that it allows for, and a
	// client that waits for nothing else gets the lock at once.
	out[checker.CauseExpiry], out[checker.CauseOther] = p.sc.Lock.TTL/50+10*time.Millisecond, 0
	return out
}

// trouble is a span in which a client did not reach a server, or any server where
// the name is empty.
type trouble struct {
	client, server string
	checker.Span
}

// absences are the spans in which clients did not run, or did not reach a majority
// of the servers that the lock asks. They come from the schedule, and from when its
// faults were felt, so they are known on every kind of server.
func (p *play) absences(t *trace.Trace) map[string][]checker.Absence {
	end := p.endOfWork(t)
	var clients []string
	for _, m := range p.world.Clients() {
		clients = append(clients, m.Name())
	}
	var troubles []trouble
	for i, f := range p.sc.Faults {
		if p.schedule.fired[i] {
			troubles = append(troubles, p.troublesOf(f.Action, p.schedule.felt[i].spans(f.Action, end), clients)...)
		}
	}
	out := map[string][]checker.Absence{}
	for name, spans := range crashes(t, end) {
		if slices.Contains(clients, name) {
			out[name] = spans
			continue
		}
		for _, s := range spans {
			for _, c := range clients {
				troubles = append(troubles, trouble{c, name, s.Span})
			}
		}
	}
	for _, c := range p.clients {
		for _, at := range c.lapsed {
			out[c.proc.Name()] = append(out[c.proc.Name()], checker.Absence{Span: checker.Span{From: at, To: at}, Crash: true})
		}
	}
	servers := p.askedServers()
	for _, c := range clients {
		for _, s := range unreached(troubles, c, servers) {
			out[c] = append(out[c], checker.Absence{Span: s})
		}
	}
	return out
}

// endOfWork is when the workload ended.
func (p *play) endOfWork(t *trace.Trace) time.Duration {
	if p.overAt == 0 {
		return 0
	}
	return t.Events[p.overAt-1].At
}

// crashes are the spans, by the name, in which a client or a server had crashed, or
// a client had no worker.
func crashes(t *trace.Trace, end time.Duration) map[string][]checker.Absence {
	out := map[string][]checker.Absence{}
	for _, e := range t.Events {
		spans := out[e.Peer]
		switch e.What.(type) {
		case trace.Crash, trace.KillWorker:
			out[e.Peer] = append(spans, checker.Absence{Span: checker.Span{From: e.At, To: max(end, e.At)}, Crash: true})
		case trace.Restart:
			if n := len(spans); n > 0 {
				spans[n-1].To = e.At
			}
		}
	}
	return out
}

// askedServers are the servers that the lock asks in the end: no replicas, nor a
// primary that was replaced.
func (p *play) askedServers() []string {
	var names []string
	for _, s := range p.world.Ground().Servers() {
		if s.Asked {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return []string{""} // a lock of another kind of server, of which nothing is known
	}
	return names
}

// spans are when a fault kept messages or steps from happening: as long as it
// lasts, or from when it was first felt to when it was last felt, and as much longer
// as it delays what it meets.
func (f *feelings) spans(a faults.Action, end time.Duration) []checker.Span {
	form, _ := faults.Open(a)
	late := time.Duration(0)
	for _, field := range form.Fields {
		if o, ok := field.Holds.(faults.Offset); ok {
			late += max(*o.To, -*o.To)
		}
	}
	length, lasts := form.Length()
	switch {
	case form.UntilHealed():
		return []checker.Span{{From: f.struck, To: max(end, f.struck)}}
	case lasts:
		return []checker.Span{{From: f.struck, To: f.struck + *length.To + late}}
	case len(f.times) > 0:
		return []checker.Span{{From: f.times[0] - late, To: f.times[len(f.times)-1]}} // a message is felt when it leaves
	}
	return nil
}

// absenting are the classes of fault that keep a client from running or from
// reaching a server. A clock that jumps, or a key that is lost, does not.
var absenting = []promise.Fault{
	promise.Pause, promise.Slow, promise.Pool, promise.Partition, promise.Latency, promise.Reset, promise.Stall,
	promise.ReadOnly, promise.ClockDrift, promise.ClockRate, promise.Failover,
}

// troublesOf is what an action kept clients from in these spans.
func (p *play) troublesOf(a faults.Action, spans []checker.Span, clients []string) []trouble {
	if !slices.Contains(absenting, faults.ClassIn(p.sc.Faults, a)) {
		return nil
	}
	var out []trouble
	add := func(client, server string) {
		for _, s := range spans {
			out = append(out, trouble{client, server, s})
		}
	}
	form, _ := faults.Open(a)
	between, and := form.Sides()
	if between == nil {
		for _, field := range form.Fields {
			name, ok := field.Holds.(faults.Name)
			switch {
			case !ok || *name.To == trace.Store:
			case slices.Contains(clients, *name.To):
				add(*name.To, "")
			default:
				for _, c := range clients {
					add(c, *name.To)
				}
			}
		}
		return out
	}
	servers := p.askedServers()
	across := func(side, other []string) {
		for _, c := range clients {
			for _, s := range servers {
				if slices.Contains(side, c) && (slices.Contains(other, s) || len(other) == 0 && !slices.Contains(side, s)) ||
					slices.Contains(side, s) && len(other) == 0 && !slices.Contains(side, c) {
					add(c, s)
				}
			}
		}
	}
	across(between, and)
	if len(and) > 0 {
		across(and, between)
	}
	return out
}

// unreached are the spans in which a client did not reach a majority of the servers.
// For a trouble with a minority of them there is a span of no length, at its end:
// what was sent before may be lost, or arrive then.
func unreached(troubles []trouble, client string, servers []string) []checker.Span {
	var mine []trouble
	var instants []time.Duration
	for _, t := range troubles {
		if t.client == client {
			mine = append(mine, t)
			instants = append(instants, t.From, t.To)
		}
	}
	slices.Sort(instants)
	instants = slices.Compact(instants)
	spare := len(servers) - (len(servers)/2 + 1)
	var out []checker.Span
	for i, at := range instants {
		if i+1 == len(instants) {
			break
		}
		down := 0
		for _, s := range servers {
			if slices.ContainsFunc(mine, func(t trouble) bool {
				return t.From <= at && at < t.To && (t.server == "" || t.server == s)
			}) {
				down++
			}
		}
		if down > spare {
			out = append(out, checker.Span{From: at, To: instants[i+1]})
		}
	}
	for _, t := range mine {
		out = append(out, checker.Span{From: t.To, To: t.To})
	}
	return out
}
