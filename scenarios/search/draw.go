package search

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/spaces"
)

// Draw draws a scenario from a space: who takes part, what they do, and what goes
// wrong. It depends on the choices alone, and it is always valid and playable: only
// crashed processes are restarted. The workload runs under the faults; then, as in
// every run, the world is healed and a lone client must get the lock.
//
// It panics if the space is not valid; see [spaces.Space.Validate].
func Draw(from spaces.Choices, space spaces.Space) *file.Scenario {
	if err := space.Validate(); err != nil {
		panic("search: draw from an invalid space: " + err.Error())
	}
	d := &drawer{from: from, space: space.WithDefaults(), sc: file.Defaults(), manner: broad}
	usual := spaces.Space{}.WithDefaults()
	d.usualTTL, d.usualRounds = d.space.TTL == usual.TTL, d.space.Rounds == usual.Rounds || d.space.Rounds == fewRounds
	d.sc.Name = file.Drawn
	strategyOf(space).draw(d)
	d.settings()
	return d.sc
}

// further draws what is drawn last, so that a seed has the same schedule as before it was
// added: names, contexts and numbers that few scenarios have.
func (d *drawer) further() {
	w := &d.sc.Workload
	if d.once(8) {
		d.sc.Lock.Owner = file.OwnerAlike
	}
	if d.space.OwnerPerRound {
		d.sc.Lock.Owner = file.OwnerRound
	}
	if d.once(6) {
		w.Resources = d.resources()
	}
	if d.once(d.manner.skew) {
		skew := d.part(pick(d, 50, 100, 1000))
		if !d.space.SameClocks { // drawn all the same, so that the rest of the seed's schedule is as it would be
			d.sc.World.Skew = skew
		}
	}
	w.Deadline = w.Request > 0 && d.once(2)
	w.Extend = pick(d, 0, 0, 0, 1, 3)
	if w.ChecksUntil != checker.CareNever && d.once(8) {
		w.Hold = d.part(400)
	}
	if d.once(24) {
		d.gather()
	}
	if w.Kind == file.WorkloadRegister && w.Nested == 0 && slices.Contains(d.space.Workloads, file.WorkloadFill) &&
		d.once(8) {
		w.Kind = file.WorkloadFill
	}
	if d.once(4) {
		d.limits()
	}
	if d.once(6) {
		w.Release = file.ReleaseRetried
	}
	if d.space.Stock && d.once(8) {
		d.sc.Lock.Client = file.ClientStock
	}
	w.Tries = d.space.Tries && d.once(6)
	if w.Leads() { // only of a space that has leaders
		w.Ticks, w.Stop = pick(d, 4, 1, 12), pick(d, 0, 0, d.part(30))
	}
}

// before is how much earlier than whole milliseconds a context ends that ends within a call.
const before = 137 * time.Microsecond

// limits draws contexts that end within a call: while a request is under way, or while
// the lock waits. None ends in the instant in which a message arrives, as whole
// milliseconds would let it: code that selects between the two would not be repeatable.
func (d *drawer) limits() {
	w, trip := &d.sc.Workload, max(d.sc.World.Latency.Max, time.Millisecond)
	limit := func(lengths ...time.Duration) time.Duration {
		if i := d.from.Below(len(lengths)); lengths[i] > 0 {
			return lengths[i] - before
		}
		return 0
	}
	w.AcquireWithin = limit(0, d.part(200), d.part(40), 14*trip, 3*trip)
	w.ExtendWithin = limit(0, 0, 0, trip, 3*trip)
	w.ReleaseWithin = limit(0, 0, 0, trip, 3*trip)
	w.Deadline = w.Deadline || w.AcquireWithin+w.ExtendWithin+w.ReleaseWithin > 0 && d.once(2)
}

// gather makes the clients many. A fault that concerned all clients concerns all of them.
func (d *drawer) gather() {
	w := &d.sc.World
	before := file.Numbered("c", w.Clients)
	w.Clients = max(w.Clients, d.space.Crowd)
	for i, f := range d.sc.Faults {
		form, ok := faults.Open(f.Action)
		for _, field := range form.Fields {
			if names, is := field.Holds.(faults.Names); is && slices.Equal(*names.To, before) {
				*names.To = file.Numbered("c", w.Clients)
			}
		}
		if ok {
			d.sc.Faults[i].Action = form.Action()
		}
	}
}

// awkward are names of resources that a lock may read as something else: the parts of a
// key, a pattern, a number, or the same name in other letters. None has braces, which
// many locks refuse: they mark the part of a key that chooses its slot in a cluster.
var awkward = []string{
	"order", "order:1", "order:10", "Order", "order 1", "*", "order?", "[o]rder", "ördér", "orde", "0", "order\n", "%73",
	"'\"\\",
}

// resources draws up to three names.
func (d *drawer) resources() []string {
	var out []string
	for range 1 + d.from.Below(3) {
		if name := pick(d, awkward...); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// drawer is a scenario while it is drawn.
type drawer struct {
	from   spaces.Choices
	space  spaces.Space
	sc     *file.Scenario
	victim string // the client that was drawn last; "" for none
	manner manner

	usualTTL, usualRounds bool // the space has the default there: no user asked for another
}

// span draws a number from a range.
func (d *drawer) span(s spaces.Span) int { return s.Min + d.from.Below(s.Max-s.Min+1) }

func (d *drawer) once(n int) bool { return d.from.Below(n) == n-1 }

// pick draws one of a list, the first being the simplest.
func pick[T any](d *drawer, list ...T) T { return list[d.from.Below(len(list))] }

// some draws a part of a list, not empty and in the same order.
func some[T any](d *drawer, list []T) []T {
	var out []T
	for _, x := range list {
		if d.once(2) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = []T{pick(d, list...)}
	}
	return out
}

// part is a percentage of the TTL, in whole milliseconds, 1 ms at least.
func (d *drawer) part(percent int) time.Duration {
	return max(d.sc.Lock.TTL*time.Duration(percent)/100, time.Millisecond).Truncate(time.Millisecond)
}

func (d *drawer) lock() {
	const steps = 20
	l, ttl := &d.sc.Lock, d.space.TTL
	l.Kind, d.sc.Store = d.space.Lock, d.space.Store
	l.TTL = (ttl.Min + (ttl.Max-ttl.Min)*time.Duration(d.from.Below(steps+1))/steps).Truncate(time.Millisecond)
	if d.manner.corners {
		l.TTL = pick(d, ttl.Min, ttl.Max, l.TTL).Truncate(time.Millisecond)
	}
	short := d.part(pick(d, d.manner.backoffs...))
	l.Backoff = file.Range{Min: short, Max: short * time.Duration(pick(d, 4, 1, 8))}
	l.Wait = pick(d, d.space.Waits...)
	l.Client = pick(d, d.space.Profiles...)
	if d.space.Nodes != (spaces.Span{}) && d.once(3) {
		l.Nodes = d.span(d.space.Nodes)
		if some := d.manner.nodesWithin(d.space.Nodes); len(some) > 0 {
			l.Nodes = pick(d, some...)
		}
	}
}

func (d *drawer) world() {
	const ms = time.Millisecond
	w := &d.sc.World
	w.Redis, w.Servers = cmp.Or(d.sc.Lock.Nodes, d.space.Redis), d.space.Servers
	w.Clients = d.span(d.space.Clients)
	w.Latency = pick(d, file.Range{Min: ms, Max: 5 * ms}, file.Range{Min: ms, Max: ms}, file.Range{Min: 0, Max: 2 * ms},
		file.Range{Min: 5 * ms, Max: 20 * ms})
	if least := d.space.LeastReplicas; least > 0 { // the lock waits until they have its key
		w.Replicas = least + d.from.Below(d.space.Replicas-least+1)
		w.Lag = pick(d, file.Range{}, w.Latency)
	} else if d.space.Replicas > 0 {
		w.Replicas = d.from.Below(d.space.Replicas + 1)
		w.Lag = pick(d, file.Range{}, file.Range{Min: d.part(1), Max: d.part(10)},
			file.Range{Min: d.part(100), Max: d.part(200)})
	}
	if watched(*w) {
		w.DownAfter = pick(d, w.DownAfter, d.part(50), d.part(200))
	}
	if clustered(*w) {
		w.NodeTimeout = max(pick(d, w.NodeTimeout, d.part(50), d.part(200)), 100*ms)
		w.Lag = pick(d, file.Range{}, file.Range{Min: d.part(1), Max: d.part(10)},
			file.Range{Min: d.part(10), Max: d.part(25)})
	}
	if d.space.Faults == nil {
		w.Persistence = pick(d, file.Persistences()...)
	}
}

func (d *drawer) workload() {
	w := &d.sc.Workload
	w.Kind, w.Data = pick(d, d.kinds()...), cmp.Or(d.space.Data, w.Data)
	w.Rounds = d.span(d.space.Rounds)
	w.ChecksUntil = pick(d, checker.CareNever, checker.CareLost, checker.CareSteps)
	w.Hold = d.part(pick(d, d.holds()...))
	w.Think = d.part(pick(d, d.manner.thinks...))
	w.Stagger = pick(d, 0, d.part(10))
	w.Timeout = pick(d, 0, 0, d.part(50), d.part(200))
	w.Request = pick(d, 0, 0, d.part(40), d.part(200))
	if w.Kind.Takes("nested") {
		w.Nested = d.from.Below(d.space.Nested + 1)
	}
}

// kinds are the workloads that are drawn first. Fill is drawn last, where it can take the
// place of a register.
func (d *drawer) kinds() []file.WorkloadKind {
	all := slices.Clone(d.space.Workloads)
	if slices.Contains(all, file.WorkloadRegister) {
		all = slices.DeleteFunc(all, func(k file.WorkloadKind) bool { return k == file.WorkloadFill })
	}
	return all
}

// holds are the possible lengths of a section, in hundredths of the TTL. A client
// that works for longer than its lease without checking it loses data with any lock
// that is not renewed, without any fault: that proves nothing about the lock.
func (d *drawer) holds() []int {
	if d.sc.Workload.ChecksUntil == checker.CareNever {
		return slices.DeleteFunc(slices.Clone(d.manner.holds), func(percent int) bool { return percent > 90 })
	}
	return d.manner.holds
}

func (d *drawer) client() string {
	d.victim = fmt.Sprint("c", d.from.Below(d.sc.World.Clients))
	return d.victim
}

// node draws one of the servers that have the lock. In a Redis Cluster it is often the one of which that is true.
func (d *drawer) node() string {
	if name := owner(d.sc.World); name != "" && d.once(2) {
		return name
	}
	return pick(d, d.sc.World.Granting()...)
}

// host draws a server or the store.
func (d *drawer) host() string {
	if d.once(3) {
		return "s0"
	}
	return d.node()
}
