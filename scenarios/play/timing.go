package play

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// calm says that nothing can explain a lease that ends before its release, or an
// acquire that fails while the lock is free: the schedule has no fault, a message and
// the work under a grant take at most a quarter of a lease, no request but an
// Acquire ends before it is answered, and a lock that asks several nodes has the time to.
func (p *play) calm() bool {
	w, short := p.sc.Workload, p.sc.Lock.TTL/4
	work := w.Working()
	if p.lock.Section.Run != nil || p.leads() {
		work = 0
		for _, c := range p.clients {
			work = max(work, c.longest)
		}
	}
	return len(p.sc.Faults) == 0 && (!p.byQuorum() || p.prompt()) && p.sc.World.Latency.Max <= short && work <= short && w.Nested == 0 && w.Request == 0 &&
		w.ExtendWithin == 0 && w.ReleaseWithin == 0
}

// timing is what the idle time of the lock is computed from.
func (p *play) timing(t *trace.Trace) *checker.Timing {
	out := &checker.Timing{Away: p.absences(t), Grace: p.grace(), Within: p.freeWithin(),
		Lease: p.sc.Lock.TTL, Trips: p.trips(), Steady: p.steady(), Prompt: p.prompt(),
		InOrder: p.sc.World.Latency.Min == p.sc.World.Latency.Max, Sends: map[string][]time.Duration{}, Pace: p.pace(),
		Heard:   map[string][]time.Duration{},
		Resends: p.sc.Lock.Client == file.ClientStock, Growing: !p.lock.FollowsSpec, Undisturbed: p.undisturbed(), Alone: p.alone(), Leaderless: p.leaderless()}
	out.Majority, out.Struck = p.majority()
	for _, e := range t.Events {
		out.At = append(out.At, e.At)
		if !trace.IsClient(e.Actor) || !trace.IsServer(e.Peer) || p.watches(e.Peer) {
			continue
		}
		switch e.What.(type) {
		case trace.Send:
			out.Sends[e.Actor] = append(out.Sends[e.Actor], e.At)
		case trace.Receive:
			out.Heard[e.Actor] = append(out.Heard[e.Actor], e.At)
		}
	}
	return out
}

// undisturbed is when the first fault struck. Clocks that disagree from the start are one, and so is an operation in the
// transaction of a lock that its client gave up.
func (p *play) undisturbed() time.Duration {
	first := time.Duration(math.MaxInt64)
	if p.sc.World.Skew > 0 {
		first = 0
	}
	for i := range p.sc.Faults {
		if p.schedule.fired[i] {
			first = min(first, p.schedule.felt[i].struck)
		}
	}
	for _, c := range p.clients {
		if c.gaveUp > 0 {
			first = min(first, c.gaveUp)
		}
	}
	return first
}

// alone is how long a client may wait for a lock that was released and that no other client asks for: its first try is
// granted. A quarter of a lease is allowed besides, far more than a client needs before it asks. It is not known where
// votes may split.
func (p *play) alone() time.Duration {
	kept := p.lock.Promise.FreeAfter[promise.CauseOther]
	if p.lock.voters() > 1 || kept == lock.TermAnyTime || p.lock.Promise.FreeWithin == lock.TermAnyTime {
		return 0
	}
	within := p.lock.GrantTime + p.length(kept) + max(2*p.trips(), p.sc.Lock.TTL/4)
	if p.lock.settles() > 0 {
		within += 40*p.sc.World.Latency.Max + 500*time.Millisecond
	}
	return within
}

// pace is how often a client asks the servers, for a lock that has the backoff of the scenario or says its own. It is
// not known where a server has forgotten scripts, which are sent again, where other work of a process takes its
// connections, and makes new ones, nor for stock clients, which send a request again by themselves, nor where a release
// may be called again at any time.
func (p *play) pace() *checker.Pace {
	for i, f := range p.sc.Faults {
		class := faults.ClassIn(p.sc.Faults, f.Action)
		if p.schedule.fired[i] && (class == promise.Scripts || class == promise.Pool) {
			return nil
		}
	}
	pause := p.lock.Pause
	if p.lock.FollowsSpec {
		pause = max(p.sc.Lock.Backoff.Min, 1)
	}
	if pause == 0 || p.sc.Lock.Client == file.ClientStock || p.sc.Workload.Release == file.ReleaseLater {
		return nil
	}
	return &checker.Pace{Servers: p.lock.voters(), Pause: pause, Renewal: lock.DefaultRetry(p.sc.Lock.TTL), Extends: p.sc.Workload.Extend}
}

// returnsWithin is how soon a call returns by the promise of the lock if no server answers, and an Acquire after the
// end of its context. 0 is for a lock that does not promise it.
func (p *play) returnsWithin() time.Duration { return p.length(p.lock.Promise.ReturnsWithin) }

// trips is how long the requests of one call take at most on a whole network: it
// connects, sends a script that the server does not have, and cleans up.
func (p *play) trips() time.Duration {
	return 2*p.messages()*p.sc.World.Latency.Max + 10*time.Millisecond
}

// messages are those of a call of the lock. The stock client sends two more when it connects, to say what it is.
func (p *play) messages() time.Duration {
	n := p.lock.messages()
	if p.sc.Lock.Client == file.ClientStock {
		n += 2
	}
	return n
}

// prompt says that no time limit of a request ends before its answer: not that of a watchdog nor, where a quorum is
// asked, that of a Redlock.
func (p *play) prompt() bool {
	limit := lock.DefaultRetry(p.sc.Lock.TTL)
	if p.byQuorum() {
		limit = min(limit, lock.DefaultNodeTimeout(p.sc.Lock.TTL))
	}
	return p.trips() <= limit
}

// byQuorum says that the lock asks a majority of nodes, of which there may be one.
func (p *play) byQuorum() bool { return p.lock.Quorum || p.lock.voters() > 1 }

// watches reports whether a server only watches others: what a client asks it is no request for the lock.
func (p *play) watches(server string) bool {
	return slices.ContainsFunc(p.lock.Servers, func(s Servers) bool { return s.Kind.Watches && strings.HasPrefix(server, s.Kind.Prefix) })
}

// steady says that the servers had all keys, and their clocks, all the time: only faults
// struck that concern clients and the network.
func (p *play) steady() bool {
	if p.lock.watched() && len(promotions(p.world.Trace())) > 0 {
		return false
	}
	for i, f := range p.sc.Faults {
		class := faults.ClassIn(p.sc.Faults, f.Action)
		if p.schedule.fired[i] && class != promise.Crash && class != promise.Restart && class != promise.Worker &&
			class != promise.WallClock && class != promise.Scripts && (class == promise.Failover || !slices.Contains(absenting, class)) {
			return false
		}
	}
	return true
}

// grace is how long a lock that is free may take until a client has it: the
// longest time between two attempts, what it sends and receives, and what it needs to
// be sure.
func (p *play) grace() time.Duration {
	backoff := p.sc.Lock.Backoff.Max
	if !p.lock.FollowsSpec {
		backoff = max(backoff, retry)
	}
	if p.lock.settles() > 0 { // a request goes to the leader, and from there to a majority; watches are served in rounds
		return p.lock.GrantTime + backoff + 40*p.sc.World.Latency.Max + 500*time.Millisecond
	}
	trips := p.messages() * p.sc.World.Latency.Max
	if p.lock.Messages == 0 && p.lock.learns() { // it may ask in more steps than those that say how many they take
		trips *= 2
	}
	return p.lock.GrantTime + backoff + trips + p.sc.World.Lag.Max
}

// freeWithin says how soon the lock is free again after each cause, by its promise.
// What it does not promise may take as long as a key lives, after every cause but
// CauseOther. That one may take as long too on several servers, where clients that ask at
// the same time may split the votes and ask again (F25), and for a lock whose backoff is
// not known.
func (p *play) freeWithin() map[promise.Cause]time.Duration {
	promised := p.lock.Promise
	out := map[promise.Cause]time.Duration{}
	for _, c := range promise.Causes() {
		term, ok := promised.FreeAfter[c]
		if c == promise.CauseExpiry && p.sc.Workload.Extend > 0 { // an extension of unknown outcome may have renewed the key
			ok = false
		}
		if !ok && (c != promise.CauseOther || p.lock.voters() > 1 || !p.lock.FollowsSpec) {
			term = cmp.Or(promised.FreeWithin, lock.TermTTL)
		}
		out[c] = p.length(term)
	}
	return out
}

// leaderless is how long the lock may have no leader after each cause, by its promise: as long as it may not be free. 0 is
// for a lock that promises nothing about that.
func (p *play) leaderless() time.Duration {
	if p.lock.Promise.FreeWithin == lock.TermAnyTime {
		return 0
	}
	return p.length(cmp.Or(p.lock.Promise.FreeWithin, lock.TermTTL))
}

// length is the length of a term in this run, without the grace.
func (p *play) length(t lock.Term) time.Duration {
	return t.Length(p.sc.Lock.TTL, p.sc.Lock.Backoff.Max)
}

// trouble is a span in which a client did not run, or had no whole link to one of the
// servers that the lock asks.
type trouble struct {
	client string
	checker.Span
	behind bool // only links among the servers were not whole
}

// absences are the spans in which clients did not run, or some of their links to the
// servers that the lock asks were not whole. They come from the schedule, and from
// when its faults were felt, so they are known on every kind of server.
func (p *play) absences(t *trace.Trace) map[string][]checker.Absence {
	end := p.endOfWork(t)
	var clients []string
	for _, m := range p.world.Clients() {
		clients = append(clients, m.Name())
	}
	out := map[string][]checker.Absence{}
	for i, f := range p.sc.Faults {
		if p.schedule.fired[i] {
			class := faults.ClassIn(p.sc.Faults, f.Action)
			for _, t := range p.troublesOf(f.Action, p.schedule.felt[i].spans(f.Action, end), clients) {
				out[t.client] = append(out[t.client], checker.Absence{Span: t.Span, Running: !slices.Contains(stopping, class), Behind: t.behind})
			}
		}
	}
	for name, spans := range crashes(t, end) {
		if slices.Contains(clients, name) {
			out[name] = append(out[name], spans...)
			continue
		}
		for _, s := range spans { // a server was down
			s.To += p.lock.settles() + p.pausing()
			for _, c := range clients {
				out[c] = append(out[c], checker.Absence{Span: s.Span, Running: true})
			}
		}
	}
	for _, c := range p.clients {
		for _, at := range c.lapsed {
			out[c.proc.Name()] = append(out[c.proc.Name()], checker.Absence{Span: checker.Span{From: at, To: at}, Crash: true})
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
// a client had no worker. A client that has ended by itself, as it was asked to, has given
// back what it had: that explains nothing.
func crashes(t *trace.Trace, end time.Duration) map[string][]checker.Absence {
	out := map[string][]checker.Absence{}
	for _, e := range t.Events {
		spans := out[e.Peer]
		switch what := e.What.(type) {
		case trace.Crash, trace.KillWorker:
			if what == (trace.Crash{Mode: trace.Exit}) {
				continue
			}
			out[e.Peer] = append(spans, checker.Absence{Span: checker.Span{From: e.At, To: max(end, e.At)}, Crash: true})
		case trace.Restart:
			if n := len(spans); n > 0 {
				spans[n-1].To = e.At
			}
		}
	}
	return out
}

// serverNames are the servers that a lock may ask, replicas too.
func (p *play) serverNames() []string {
	var names []string
	for _, s := range p.world.Ground().Servers() {
		names = append(names, s.Name)
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
	case lasts && !form.Brief:
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

// stopping are those of them that keep a client from running, or its timers from firing in time.
var stopping = []promise.Fault{promise.Pause, promise.Slow, promise.Pool, promise.ClockDrift, promise.ClockRate}

// searching is how long go-redis waits for a Sentinel: its ReadTimeout and its DialTimeout.
const searching = 8 * time.Second

// pausing is how long a client of the servers may pause after trouble before it sends a request again: a stock one has
// the default MaxRetryBackoff of go-redis, and a quiet one sends it once.
func (p *play) pausing() time.Duration {
	if p.lock.watched() { // an answer of a Sentinel that does not come: the read and the dial have time limits of their own
		return searching
	}
	if p.sc.Lock.Client == file.ClientStock {
		return 512 * time.Millisecond
	}
	return 0
}

// troublesOf are the troubles of an action in these spans.
func (p *play) troublesOf(a faults.Action, spans []checker.Span, clients []string) []trouble {
	if !slices.Contains(absenting, faults.ClassIn(p.sc.Faults, a)) {
		return nil
	}
	form, _ := faults.Open(a)
	between, and := form.Sides()
	settles := time.Duration(0)
	if p.concernsCluster(form) {
		settles = p.lock.settles()
	}
	var out []trouble
	for _, c := range clients {
		concerned := settles > 0
		if between != nil {
			concerned = concerned || crosses(between, and, c, p.serverNames())
		} else {
			for _, field := range form.Fields {
				name, ok := field.Holds.(faults.Name)
				concerned = concerned || ok && (*name.To == c || trace.IsServer(*name.To))
			}
		}
		behind := !concerned && p.betweenReplicas(form)
		if !concerned && !behind {
			continue
		}
		for _, s := range spans {
			s.To += settles + p.pausing()
			out = append(out, trouble{c, s, behind})
		}
	}
	return out
}

// concernsCluster reports whether an action concerns a server, or a link between two: if they form a cluster, all of
// its clients are concerned.
func (p *play) concernsCluster(form faults.Form) bool {
	if p.lock.settles() == 0 {
		return false
	}
	between, and := form.Sides()
	names := p.serverNames()
	for _, s := range p.lock.Servers {
		names = append(names, s.Kind.Leader)
	}
	if between != nil {
		isServer := func(name string) bool { return slices.Contains(names, name) }
		return slices.ContainsFunc(between, isServer) || slices.ContainsFunc(and, isServer)
	}
	return slices.ContainsFunc(form.Fields, func(f faults.Field) bool {
		name, ok := f.Holds.(faults.Name)
		return ok && slices.Contains(names, *name.To)
	})
}

// betweenReplicas reports whether an action concerns the links between r0 and replicas that the lock needs: no client
// is granted it then.
func (p *play) betweenReplicas(form faults.Form) bool {
	if p.lock.Replicas == 0 {
		return false
	}
	between, and := form.Sides()
	names := p.serverNames()
	return slices.ContainsFunc(between, func(s string) bool { return isFamily(s) && crosses(between, and, s, names) })
}

// crosses reports whether a link between a client and one of the servers leads from
// one side of a fault to the other. Without a second side that is everything else.
func crosses(between, and []string, client string, servers []string) bool {
	first, second := slices.Contains(between, client), slices.Contains(and, client) || len(and) == 0 && !slices.Contains(between, client)
	return slices.ContainsFunc(servers, func(s string) bool {
		in, out := slices.Contains(between, s), slices.Contains(and, s) || len(and) == 0 && !slices.Contains(between, s)
		return first && out || second && in
	})
}
