package evidence

import (
	"maps"
	"math"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// calm says that nothing can explain a lease that ends before its release, or an
// acquire that fails while the lock is free: the schedule has no fault, a message and
// the work under a grant take at most a quarter of a lease, no request but an
// Acquire ends before it is answered, and a lock that asks several nodes has the time to.
// A lock that is held until it is told may be held for longer.
func (r reading) calm() bool {
	w, short := r.sc.Workload, r.sc.Lock.TTL/4
	work := w.Working()
	if r.terms.Section || r.terms.Fence != "" || r.leads() || w.Beside {
		work = 0
		for _, c := range r.Clients {
			work = max(work, c.Longest)
		}
	}
	return len(r.sc.Faults) == 0 && !r.terms.Promise.Unlocked && (!r.byQuorum() || r.prompt()) &&
		r.sc.World.Latency.Max <= short &&
		(work <= short || r.terms.Lease == LeaseHeld) && w.Nested == 0 && w.Request == 0 && w.ExtendWithin == 0 &&
		w.ReleaseWithin == 0
}

// timing is what the idle time of the lock is computed from.
func (r reading) timing() *checker.Timing {
	world := r.sc.World
	out := &checker.Timing{At: r.Timeline.At, Away: r.absences(), Grace: r.grace(), Within: r.freeWithin(),
		Lease: r.sc.Lock.TTL,
		Trips: r.trips(), Steady: r.steady(), Prompt: r.prompt(), InOrder: world.Latency.Min == world.Latency.Max,
		Pace:  r.pace(),
		Sends: map[string][]time.Duration{}, Heard: map[string][]time.Duration{},
		Resends: r.resends(),
		Growing: !r.terms.FollowsSpec, Undisturbed: r.undisturbed(), Alone: r.alone(), Leaderless: r.leaderless()}
	out.Majority, out.Struck = r.majority()
	for _, m := range r.Timeline.Messages {
		// what a client asks a server that watches is no request for the lock
		if s, ok := r.Servers.Find(m.Peer); !ok || s.Role == trace.RoleWatcher {
			continue
		}
		of := out.Sends
		if m.Received {
			of = out.Heard
		}
		of[m.Client] = append(of[m.Client], r.Timeline.when(m.At))
	}
	out.Unlinked = r.unlinked(out.Away, out.Trips)
	return out
}

// unlinked are the times, by the client, from the end of an absence that may have broken a connection to a server to
// when the client heard from that server again. It may have if something was under way on one meanwhile, or if it
// lasted so long that the server or the client itself may have ended a connection on which nothing came.
func (r reading) unlinked(away map[string][]checker.Absence, trips time.Duration) map[string][]checker.Span {
	if len(away) == 0 {
		return nil
	}
	type link struct{ client, peer string }
	sent, heard := map[link][]time.Duration{}, map[link][]time.Duration{}
	peers := map[string][]string{}
	for _, m := range r.Timeline.Messages {
		if len(away[m.Client]) == 0 {
			continue
		}
		l := link{m.Client, m.Peer}
		if sent[l] == nil && heard[l] == nil {
			peers[m.Client] = append(peers[m.Client], m.Peer)
		}
		of := sent
		if m.Received {
			of = heard
		}
		of[l] = append(of[l], r.Timeline.when(m.At))
	}
	within := func(at []time.Duration, from, to time.Duration) bool {
		i, _ := slices.BinarySearch(at, from)
		return i < len(at) && at[i] <= to
	}
	out := map[string][]checker.Span{}
	for client, absences := range away {
		for _, a := range absences {
			if a.Crash || a.Behind {
				continue
			}
			from := a.From - trips
			if a.To-a.From >= r.sc.Lock.TTL/3 {
				from = 0
			}
			until := a.To
			for _, peer := range peers[client] {
				l := link{client, peer}
				if !within(sent[l], from, a.To) && !within(heard[l], from, a.To) {
					continue
				}
				again := time.Duration(math.MaxInt64)
				if i, _ := slices.BinarySearch(heard[l], a.To+1); i < len(heard[l]) {
					again = heard[l][i]
				}
				until = max(until, again)
			}
			if until > a.To {
				out[client] = append(out[client], checker.Span{From: a.To, To: until})
			}
		}
	}
	return out
}

// undisturbed is when the first fault struck. Clocks that disagree from the start are one, and so is an operation in
// the transaction of a lock that its client gave up.
func (r reading) undisturbed() time.Duration {
	first := time.Duration(math.MaxInt64)
	if r.sc.World.Skew > 0 {
		first = 0
	}
	for i := range r.sc.Faults {
		if r.Faults[i].Fired {
			first = min(first, r.Faults[i].Struck)
		}
	}
	for _, c := range r.Clients {
		if c.GaveUp > 0 {
			first = min(first, c.GaveUp)
		}
	}
	return first
}

// pace is how often a client asks the servers, for a lock that has the backoff of the scenario or says its own. It is
// not known where a server has forgotten scripts, which are sent again, where other work of a process takes its
// connections, and makes new ones, nor for stock clients, which send a request again by themselves, nor where a release
// may be called again at any time, or a client that has a lock asks for another.
func (r reading) pace() *checker.Pace {
	for i, f := range r.sc.Faults {
		class := faults.ClassIn(r.sc.Faults, f.Action)
		if r.Faults[i].Fired && class.ChangesPace() {
			return nil
		}
	}
	pause := r.terms.Pause
	if r.terms.FollowsSpec {
		pause = max(r.sc.Lock.Backoff.Min, 1)
	}
	if pause == 0 || r.resends() || r.sc.Workload.Release == file.ReleaseLater ||
		r.sc.Workload.Beside {
		return nil
	}
	return &checker.Pace{Servers: r.terms.Voters, Pause: pause, Renewal: promise.RenewalRetry(r.sc.Lock.TTL),
		Extends: r.sc.Workload.Extend}
}

// steady says that the servers had all keys, and their clocks, all the time: only faults
// struck that concern clients and the network.
func (r reading) steady() bool {
	if (r.terms.Watched || r.terms.Sharded) && len(r.Timeline.Promotions) > 0 {
		return false
	}
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired && !faults.ClassIn(r.sc.Faults, f.Action).Steady() {
			return false
		}
	}
	return true
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
func (r reading) absences() map[string][]checker.Absence {
	end := r.endOfWork()
	clients := r.ClientNames()
	out := map[string][]checker.Absence{}
	for i, f := range r.sc.Faults {
		if r.Faults[i].Fired {
			class := faults.ClassIn(r.sc.Faults, f.Action)
			for _, t := range r.troublesOf(f.Action, r.Faults[i].spans(f.Action, end), clients) {
				out[t.client] = append(out[t.client], checker.Absence{Span: t.Span, Running: !class.Stops(), Behind: t.behind})
			}
		}
	}
	crashes := r.crashes(end)
	for _, name := range slices.Sorted(maps.Keys(crashes)) {
		spans := crashes[name]
		if slices.Contains(clients, name) {
			out[name] = append(out[name], spans...)
			continue
		}
		for _, s := range spans { // a server was down
			s.To += r.terms.Settles + r.pausing()
			for _, c := range clients {
				out[c] = append(out[c], checker.Absence{Span: s.Span, Running: true})
			}
		}
	}
	for _, c := range r.Clients {
		for _, at := range c.Lapsed {
			out[c.Name] = append(out[c.Name], checker.Absence{Span: checker.Span{From: at, To: at}, Crash: true})
		}
	}
	return out
}

// endOfWork is when the workload ended.
func (r reading) endOfWork() time.Duration {
	return r.Timeline.when(checker.Pos(r.Over))
}

// ClientNames are the names of the clients, each once, in the order in which they began.
func (rec *Record) ClientNames() []string {
	var names []string
	for _, c := range rec.Clients {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// crashes are the spans, by the name, in which a client or a server had crashed, or
// a client had no worker. A client that has ended by itself, as it was asked to, has given
// back what it had: that explains nothing.
func (r reading) crashes(end time.Duration) map[string][]checker.Absence {
	out := map[string][]checker.Absence{}
	starts := r.Timeline.Starts
	restart := func(before checker.Pos) {
		for ; len(starts) > 0 && (before == 0 || starts[0].At < before); starts = starts[1:] {
			if spans := out[starts[0].Name]; len(spans) > 0 {
				spans[len(spans)-1].To = r.Timeline.when(starts[0].At)
			}
		}
	}
	for _, e := range r.Timeline.Ends {
		restart(e.At)
		if at := r.Timeline.when(e.At); !e.Exit {
			out[e.Name] = append(out[e.Name], checker.Absence{Span: checker.Span{From: at, To: max(end, at)}, Crash: true})
		}
	}
	restart(0)
	return out
}

// isServer reports whether a name is that of a server other than the store.
func (r reading) isServer(name string) bool {
	_, ok := r.Servers.Find(name)
	return ok
}

// serverNames are the servers that a lock may ask, replicas too.
func (r reading) serverNames() []string {
	var names []string
	for _, s := range r.Servers {
		names = append(names, s.Name)
	}
	return names
}

// spans are when a fault kept messages or steps from happening: as long as it
// lasts, or from when it was first felt to when it was last felt, and as much longer
// as it delays what it meets.
func (f Fault) spans(a faults.Action, end time.Duration) []checker.Span {
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
		return []checker.Span{{From: f.Struck, To: max(end, f.Struck)}}
	case lasts && !form.Brief:
		return []checker.Span{{From: f.Struck, To: f.Struck + *length.To + late}}
	case len(f.Felt) > 0:
		return []checker.Span{{From: f.Felt[0] - late, To: f.Felt[len(f.Felt)-1]}} // a message is felt when it leaves
	}
	return nil
}

// troublesOf are the troubles of an action in these spans.
func (r reading) troublesOf(a faults.Action, spans []checker.Span, clients []string) []trouble {
	if !faults.ClassIn(r.sc.Faults, a).KeepsAway() {
		return nil
	}
	form, _ := faults.Open(a)
	between, and := r.sides(form)
	settles := time.Duration(0)
	if r.concernsCluster(form) {
		settles = r.terms.Settles
	}
	var out []trouble
	for _, c := range clients {
		concerned := settles > 0
		if between != nil {
			concerned = concerned || crosses(between, and, c, r.serverNames())
		} else {
			for _, field := range form.Fields {
				name, ok := field.Holds.(faults.Name)
				concerned = concerned || ok && (*name.To == c || r.isServer(*name.To))
			}
		}
		behind := !concerned && r.betweenReplicas(form)
		if !concerned && !behind {
			continue
		}
		for _, s := range spans {
			s.To += settles + r.pausing()
			out = append(out, trouble{c, s, behind})
		}
	}
	return out
}

// concernsCluster reports whether an action concerns a server, or a link between two: if they form a cluster, all of
// its clients are concerned.
func (r reading) concernsCluster(form faults.Form) bool {
	if r.terms.Settles == 0 {
		return false
	}
	between, and := r.sides(form)
	names := append(r.serverNames(), r.terms.Leaders...)
	if between != nil {
		isServer := func(name string) bool { return slices.Contains(names, name) }
		return slices.ContainsFunc(between, isServer) || slices.ContainsFunc(and, isServer)
	}
	return slices.ContainsFunc(form.Fields, func(f faults.Field) bool {
		name, ok := f.Holds.(faults.Name)
		return ok && slices.Contains(names, *name.To)
	})
}

// betweenReplicas reports whether an action concerns the links between a primary and replicas that the lock needs: no
// client is granted it then.
func (r reading) betweenReplicas(form faults.Form) bool {
	if r.terms.Replicas == 0 {
		return false
	}
	between, and := r.sides(form)
	names := r.serverNames()
	return slices.ContainsFunc(between, func(s string) bool {
		return r.Servers.InFamily(s) &&
			crosses(between, and, s, names)
	})
}

// sides are the two sides of a fault of the network. The name of whichever server leads may be that of any.
func (r reading) sides(form faults.Form) (between, and []string) {
	between, and = form.Sides()
	return r.withLed(between), r.withLed(and)
}

// withLed are names, and those of all servers if one of the names is that of whichever leads.
func (r reading) withLed(names []string) []string {
	if slices.ContainsFunc(names, func(n string) bool { return slices.Contains(r.terms.Leaders, n) }) {
		return append(slices.Clone(names), r.serverNames()...)
	}
	return names
}

// crosses reports whether a link between a client and one of the servers leads from
// one side of a fault to the other. Without a second side that is everything else.
func crosses(between, and []string, client string, servers []string) bool {
	first, second := slices.Contains(between, client), slices.Contains(and, client) || len(and) == 0 &&
		!slices.Contains(between, client)
	return slices.ContainsFunc(servers, func(s string) bool {
		in, out := slices.Contains(between, s), slices.Contains(and, s) || len(and) == 0 && !slices.Contains(between, s)
		return first && out || second && in
	})
}
