package search

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/scenarios/file"
)

// Draw draws a scenario from a space: who takes part, what they do, and what goes
// wrong. It depends on the choices alone, and it is always valid and playable: only
// crashed processes are restarted. The workload runs under the faults; then, as in
// every run, the world is healed and a lone client must get the lock.
//
// It panics if the space is not valid; see [Space.Validate].
func Draw(from Choices, space Space) *file.Scenario {
	if err := space.Validate(); err != nil {
		panic("search: draw from an invalid space: " + err.Error())
	}
	d := &drawer{from: from, space: space.WithDefaults(), sc: file.Defaults()}
	d.sc.Name = "drawn"
	d.lock()
	d.world()
	d.workload()
	d.schedule()
	return d.sc
}

// drawer is a scenario while it is drawn.
type drawer struct {
	from   Choices
	space  Space
	sc     *file.Scenario
	victim string // the client that was drawn last; "" for none
}

// span draws a number from a range.
func (d *drawer) span(s Span) int { return s.Min + d.from.Below(s.Max-s.Min+1) }

// once draws true once in n times.
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
	l.Kind = d.space.Lock
	l.TTL = (ttl.Min + (ttl.Max-ttl.Min)*time.Duration(d.from.Below(steps+1))/steps).Truncate(time.Millisecond)
	short := d.part(pick(d, 5, 10, 2))
	l.Backoff = file.Range{Min: short, Max: short * time.Duration(pick(d, 4, 1, 8))}
	l.Wait = pick(d, d.space.Waits...)
	l.Client = pick(d, d.space.Profiles...)
}

func (d *drawer) world() {
	const ms = time.Millisecond
	w := &d.sc.World
	w.Redis, w.Servers = d.space.Redis, d.space.Servers
	w.Clients = d.span(d.space.Clients)
	w.Latency = pick(d, file.Range{Min: ms, Max: 5 * ms}, file.Range{Min: ms, Max: ms}, file.Range{Min: 0, Max: 2 * ms}, file.Range{Min: 5 * ms, Max: 20 * ms})
	if d.space.Replicas > 0 {
		w.Replicas = d.from.Below(d.space.Replicas + 1)
		w.Lag = pick(d, file.Range{}, file.Range{Min: d.part(1), Max: d.part(10)}, file.Range{Min: d.part(100), Max: d.part(200)})
	}
	if d.space.Faults == nil {
		w.Persistence = pick(d, file.Persistences()...)
	}
}

func (d *drawer) workload() {
	w := &d.sc.Workload
	w.Kind = pick(d, d.space.Workloads...)
	w.Rounds = d.span(d.space.Rounds)
	w.ChecksUntil = pick(d, checker.CareNever, checker.CareLost, checker.CareSteps)
	w.Hold = d.part(pick(d, d.holds()...))
	w.Think = d.part(pick(d, 10, 1, 50))
	w.Stagger = pick(d, 0, d.part(10))
	w.Timeout = pick(d, 0, 0, d.part(50), d.part(200))
	w.Request = pick(d, 0, 0, d.part(40), d.part(200))
	if w.Kind != file.WorkloadTransfer { // which has no nested sections
		w.Nested = d.from.Below(d.space.Nested + 1)
	}
}

// holds are the possible lengths of a section, in hundredths of the TTL. A client
// that works for longer than its lease without checking it loses data with any lock
// that is not renewed, without any fault: that proves nothing about the lock.
func (d *drawer) holds() []int {
	if d.sc.Workload.ChecksUntil == checker.CareNever {
		return []int{25, 10, 50, 90}
	}
	return []int{25, 10, 50, 90, 150}
}

// client draws one of the clients.
func (d *drawer) client() string {
	d.victim = fmt.Sprint("c", d.from.Below(d.sc.World.Clients))
	return d.victim
}

// node draws one of the servers.
func (d *drawer) node() string { return pick(d, d.sc.World.Names()...) }

// host draws a server or the store.
func (d *drawer) host() string {
	if d.once(3) {
		return "s0"
	}
	return d.node()
}
