package scenarios

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/sim"
	"locksim/sim/trace"
)

// resource is what the clients of a run quarrel over, register the cell of it
// that they read and write.
const (
	resource = "order"
	register = "balance"
)

// play is one run on its way: the clients, the schedule, and what the clients
// have seen.
type play struct {
	sc       *Scenario
	lock     Lock
	world    *sim.World
	schedule *schedule
	clients  []*client
	probe    *probe
	final    string
}

func newPlay(sc *Scenario, l Lock) *play { return &play{sc: sc, lock: l} }

func (p *play) config(seed uint64, mode fence.Mode) sim.Config {
	return sim.Config{
		Seed: seed, Fencing: mode,
		Redis:   max(p.sc.World.Redis, p.lock.Nodes, 1),
		Clients: p.sc.World.Clients,
		Latency: sim.Latency(p.sc.World.Latency),
		Limits:  sim.Limits{Virtual: p.patience()},
	}
}

// labour is far more virtual time than the clients need if each waits out
// everybody else's lease in every round, and all faults one after another.
func (p *play) labour() time.Duration {
	w := p.sc.Workload
	round := w.Hold + w.Think + w.Timeout + p.sc.Lock.TTL + p.sc.Lock.Backoff.Max + time.Second
	total := 2*round*time.Duration(w.Rounds*p.sc.World.Clients) + w.Stagger*time.Duration(p.sc.World.Clients)
	for _, f := range p.sc.Faults {
		total += f.At + lastsFor(f.Action)
	}
	return total
}

// acquirePatience is how long a client asks for the lock before it goes home:
// whoever does has met a lock that nobody can have any more.
func (p *play) acquirePatience() time.Duration { return p.labour() + time.Minute }

// patience is the virtual time after which a run is given up.
func (p *play) patience() time.Duration { return p.labour() + p.acquirePatience() + time.Hour }

// body is the run: the workload under faults, then a whole network, a probe,
// and the epilogue.
func (p *play) body(w *sim.World) error {
	p.world = w
	p.schedule = newSchedule(w, p.sc.Faults)
	if err := p.startClients(); err != nil {
		return err
	}
	if err := w.RunUntil(w.Idle); err != nil {
		return err
	}
	if err := p.schedule.failed; err != nil {
		return err
	}
	w.Heal()
	if err := w.RunUntil(w.Quiet); err != nil {
		return err
	}
	if err := p.runProbe(); err != nil {
		return err
	}
	p.final = w.Store().Value(resource, register)
	return nil
}

func (p *play) startClients() error {
	for i := range p.world.Clients() {
		c, err := newClient(p, p.world.Client(i), i)
		if err != nil {
			return fmt.Errorf("make the lock of %s: %w", p.world.Client(i).Name(), err)
		}
		p.clients = append(p.clients, c)
	}
	for _, c := range p.clients {
		c.proc.Go(c.work)
	}
	return nil
}

// history gathers what the clients saw, with the store's decisions.
func (p *play) history(t *trace.Trace) checker.History {
	h := checker.History{Care: p.sc.Workload.ChecksUntil, Final: map[checker.Cell]string{{Resource: resource, Register: register}: p.final}}
	crashed := crashes(t)
	for _, c := range p.clients {
		for _, g := range c.grants {
			g.ID = len(h.Grants) + 1
			g.Crashed = checker.Pos(crashed[g.Client])
			for i := range g.ops {
				g.ops[i].Grant = g.ID
			}
			h.Grants = append(h.Grants, g.Grant)
			h.Ops = append(h.Ops, g.ops...)
		}
		h.Attempts = append(h.Attempts, c.attempts...)
	}
	decided := map[string]sim.Decision{}
	for _, d := range p.world.Store().Decisions() {
		decided[d.Op] = d
	}
	for i := range h.Ops {
		if d, ok := decided[h.Ops[i].ID]; ok {
			h.Ops[i].Applied, h.Ops[i].Accepted = checker.Pos(d.Step), d.Refused == ""
		}
	}
	h.Liveness, h.LivenessWhy = p.probe.verdict()
	return h
}

// crashes are the steps at which processes crashed.
func crashes(t *trace.Trace) map[string]int {
	out := map[string]int{}
	for _, e := range t.Events {
		if e.Kind == "crash" {
			out[e.Peer] = e.N
		}
	}
	return out
}

func (p *play) partialPause() bool {
	for _, c := range p.clients {
		if c.partial.Load() {
			return true
		}
	}
	return false
}
