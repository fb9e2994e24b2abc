package play

import (
	"errors"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/scenarios/file"
)

// resource is what the clients of a run contend for. Sections read and write
// its register, transfers the second register as well, and sections within
// sections one of their own.
const (
	resource       = "order"
	register       = "balance"
	secondRegister = "reserve"
	nestedRegister = "audit"
)

// play is the state of one run: the clients, the schedule, and what the clients
// have seen.
type play struct {
	sc       *file.Scenario
	lock     Lock
	world    Stage
	schedule *schedule
	clients  []*client // those that came back after a crash behind all others
	probe    *probe
	late     bool // the workload did not end by itself
	over     bool // the workload has ended: nothing strikes any more
	overAt   int  // the number of the last event before that
	final    map[checker.Cell]string
}

func newPlay(sc *file.Scenario, l Lock) *play { return &play{sc: sc, lock: l} }

// registers are those that a section works on.
func (p *play) registers() []string {
	if p.sc.Workload.Kind == file.WorkloadTransfer {
		return []string{register, secondRegister}
	}
	return []string{register}
}

// labour is far more virtual time than the clients need if each waits out
// everybody else's lease in every round, and all faults one after another.
func (p *play) labour() time.Duration {
	w := p.sc.Workload
	round := w.Hold + w.Think + w.Timeout + p.sc.Lock.TTL + p.sc.Lock.Backoff.Max + time.Second
	lives := p.sc.World.Clients
	total := w.Stagger * time.Duration(lives)
	for _, f := range p.sc.Faults {
		total += f.At + f.After + lastsFor(f.Action)
		if _, again := f.Action.(faults.Restart); again {
			lives++
		}
	}
	return total + 2*round*time.Duration(w.Rounds*lives)
}

// acquirePatience is how long a client asks for the lock before it gives up. By then
// no client can have the lock any more.
func (p *play) acquirePatience() time.Duration { return p.labour() + time.Minute }

// patience is the virtual time after which a run is given up.
func (p *play) patience() time.Duration { return p.labour() + p.acquirePatience() + time.Hour }

// body is the run: the workload under faults, then a whole network, a probe,
// and the epilogue. However it ends, nothing strikes while the world is closed:
// a client that was paused then would never get to its end.
func (p *play) body(w Stage) error {
	defer func() { p.over = true }()
	p.world = w
	p.schedule = newSchedule(p, w)
	w.Ground().WatchKeys(p.watchedKeys()...)
	if err := p.startClients(); err != nil {
		return err
	}
	if err := p.runClients(); err != nil {
		return err
	}
	if err := p.schedule.failed; err != nil {
		return err
	}
	p.over, p.overAt = true, len(w.Trace().Events)
	p.schedule.bringBack()
	w.Heal()
	if err := w.RunUntil(w.Quiet); err != nil {
		return err
	}
	if err := p.runProbe(); err != nil {
		return err
	}
	p.final = p.epilogue()
	return nil
}

// runClients runs the world until every client has ended its work. A fault that lasts
// until the world is healed may prevent that for ever, such as a store that is cut
// off, or a clock that is frozen: so the world is healed at the latest when the time
// is over in which any workload ends.
func (p *play) runClients() error {
	w := p.world
	passed := false
	w.At(p.acquirePatience(), func() { passed = true })
	if err := w.RunUntil(func() bool { return passed || w.Idle() }); err != nil || w.Idle() {
		return err
	}
	p.late = true
	w.Heal()
	return w.RunUntil(w.Idle)
}

// epilogue reads every register that a section of the scenario works on.
func (p *play) epilogue() map[checker.Cell]string {
	all := p.registers()
	if p.sc.Workload.Nested > 0 {
		all = append(all, nestedRegister)
	}
	final := map[checker.Cell]string{}
	for _, r := range all {
		final[checker.Cell{Resource: resource, Register: r}] = p.world.Ground().Value(resource, r)
	}
	return final
}

func (p *play) startClients() error {
	for i, m := range p.world.Clients() {
		c, err := newClient(p, m, i)
		if err != nil {
			return p.noLock(m.Name(), err)
		}
		p.clients = append(p.clients, c)
	}
	for _, c := range p.clients {
		c.proc.Go(c.work)
	}
	return nil
}

// noLock is the complaint about a lock that cannot be made as the scenario
// says: a TTL too short for it, a way of waiting that it does not have.
func (p *play) noLock(process string, cause error) error {
	if _, ok := errors.AsType[*file.InputError](cause); ok {
		return cause
	}
	why := strings.ReplaceAll(cause.Error(), "\n", "; ")
	e := p.sc.ErrorAt(p.sc.Pos("lock"), "the lock of %s cannot be made: %s", process, why)
	e.Err = cause
	return e
}

// wallClocks are the clients that have read their wall clocks.
func (p *play) wallClocks() []string {
	var out []string
	for _, c := range p.clients {
		if c.view.LooksAtWallClock() {
			out = append(out, c.proc.Name())
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
