package play

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/evidence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// nestedRegister is the register of nested sections.
const nestedRegister = "audit"

// play is the state of one run: the clients, the schedule, and what the clients
// have seen.
type play struct {
	limits
	lock      taught
	world     Stage
	schedule  *schedule
	felt      []bool    // by the fault
	clients   []*client // restarted clients after all others
	probe     *probe
	waiting   []checker.Waiting // the calls that had not returned when the time of the workload was over, or ever
	forever   bool              // a client waits for ever
	loops     string            // which client loops, so that the run was ended; "" for none
	over      bool              // the workload has ended: no more faults strike
	overAt    int               // the number of the last event before that
	final     []evidence.Final
	asked     asked // the servers for which the lock has asked
	mode      fence.Mode
	death     *outcome.Death
	shelf     shelf          // what is left of a stock
	ownerless bool           // the lock has no owners, and sections are nested
	stuck     *deadlocked    // how a run of this seed was frozen before; nil if it was not
	fork      *Fork          // nil for a run of one seed
	note      func(c Course) // nil for nothing
}

func newPlay(sc *file.Scenario, l taught) *play {
	if least := l.LeastReplicas(); sc.World.Replicas < least {
		sc = sc.Clone()
		sc.World.Replicas = least
	}
	return &play{limits: limits{sc: sc}, lock: l}
}

// resources are the names of the locks for which the clients of a run contend.
func (p *play) resources() []string { return p.sc.Workload.Resources }

// body is the run: the workload under faults, then a healed network, a probe, and
// the epilogue. No fault strikes while the world is closed, also after an error: a
// client that was paused then would never end.
func (p *play) body(w Stage) error {
	defer func() { p.over = true }()
	p.world = w
	p.schedule = newSchedule(p, w)
	if err := p.skewClocks(); err != nil {
		return err
	}
	p.watch()
	if err := p.startClients(); err != nil {
		return err
	}
	if err := p.ended(p.runClients()); err != nil {
		return err
	}
	if err := errors.Join(p.schedule.failed, p.misuse(), p.unmoved()); err != nil {
		return err
	}
	p.over, p.overAt = true, len(w.Trace().Events)
	if p.stuck == nil { // such a world stands still
		p.schedule.restartServers()
		w.Heal()
	}
	p.felt = p.schedule.wasFelt()
	if err := p.ended(p.runProbe()); err != nil {
		return err
	}
	p.final = p.epilogue()
	if p.forever || p.loops != "" {
		w.Abandon()
	}
	return nil
}

// skewClocks makes the wall clocks of the servers disagree from the start.
func (p *play) skewClocks() error {
	most := p.sc.World.Skew
	if most == 0 {
		return nil
	}
	dice := rand.New(p.world.Clients()[0].Source("skew"))
	for _, s := range p.world.Ground().Servers() {
		by := time.Duration(dice.Int64N(2*int64(most)+1)) - most
		if err := (faults.ClockJump{Clock: s.Name, By: by}).Apply(p.world.Faults(func() {})); err != nil {
			return fmt.Errorf("set the clock of %s: %w", s.Name, err)
		}
	}
	return nil
}

// runClients runs the world until every client has ended its work. A fault that
// lasts until the world is healed may prevent that for ever, such as a store that
// is cut off, or a clock that is frozen. So the world is healed at the latest when
// the time is over in which any workload ends.
func (p *play) runClients() error {
	w := p.world
	passed := false
	w.At(p.acquireLimit(), func() { passed = true })
	if err := w.RunUntil(func() bool { return passed || w.Idle() }); err != nil || w.Idle() {
		return err
	}
	p.waiting, p.schedule.healed = p.whoWaits(false), true
	w.Heal()
	if p.real { // a live run is ended from outside
		return w.RunUntil(w.Idle)
	}
	passed = false
	w.At(p.workLimit(), func() { passed = true })
	if err := w.RunUntil(func() bool { return passed || w.Idle() }); err != nil || w.Idle() {
		return err
	}
	ever := p.whoWaits(true)
	if len(ever) == 0 && p.misuse() == nil {
		return w.RunUntil(w.Idle)
	}
	p.waiting, p.forever = ever, len(ever) > 0
	return nil
}

// ended makes a verdict of the end of a run in which a client loops until the world has delivered as many events as it
// may, or waits for itself for ever.
func (p *play) ended(err error) error {
	if p.stuck != nil && stopped(err) {
		p.loops = p.stuck.Deadlock
		return nil
	}
	loop, loops := loopOf(err)
	if !loops {
		return err
	}
	p.loops = loop
	return nil
}

// whoWaits are the clients that have not ended, each with its last step. Those that nothing keeps from ending wait for
// ever.
func (p *play) whoWaits(ever bool) []checker.Waiting {
	now := p.world.Now()
	var out []checker.Waiting
	for _, c := range p.clients {
		e, w := c.lastStep(p.world.Trace())
		w.For, w.Ever = now-e.At, ever
		switch {
		case w.Since == 0 || !c.working.Load() || c.view.Crashed():
		case ever && p.lock.TestsFence() && w.Stored:
			_ = c.mistaken("the fence %s, on %s, had not answered after %v, although the network is whole: let its Read and "+
				"Write return when their context ends", p.lock.Name, c.proc.Name(), w.For.Round(time.Second))
		case ever && c.inSection.Load() && p.lock.Section.Run != nil:
			_ = c.misused("had not ended after %v: let it return when its context ends, or when the client is told to stop",
				w.For.Round(time.Second))
		default:
			out = append(out, w)
		}
	}
	return out
}

// lastStep is the last event of a client's workload in a trace, with the call in which it is, or what it did there.
func (c *client) lastStep(t *trace.Trace) (e trace.Event, w checker.Waiting) {
	answered := 0 // of the releases that were called again
	for _, e := range slices.Backward(t.Events) {
		m, ok := e.What.(trace.Mark)
		if !ok || e.Actor != c.proc.Name() {
			continue
		}
		w := checker.Waiting{Client: c.proc.Name(), Since: checker.Pos(e.N), Resource: checker.Resource(m.Resource)}
		switch m.Step {
		case trace.Until, trace.UntilSeen, trace.Revived, trace.Lost, trace.LostSeen: // of its lease
			continue
		case trace.Acquire, trace.Reenter:
			w.Call = "Acquire"
		case trace.Release, trace.Leave:
			w.Call = "Release"
		case trace.Point:
			switch m.Label {
			case trace.PointReleasedAgain, trace.PointNotReleasedAgain: // beside the workload
				answered++
				continue
			case trace.PointReleaseAgain:
				if answered--; answered >= 0 {
					continue
				}
				w.Call = "Release"
			case trace.PointExtend:
				w.Call = "Extend"
			default:
				w.Did = "passed " + m.Label
			}
		case trace.Reading, trace.Write:
			w.Did, w.Stored = "had passed "+m.Step.String(), true
		default:
			w.Did = "had passed " + m.Step.String()
		}
		if w.Resource == "" && len(c.grants) > 0 {
			w.Resource = c.grants[len(c.grants)-1].Resource
		}
		return e, w
	}
	return trace.Event{}, checker.Waiting{}
}

// epilogue reads every register that a section of the scenario works on.
func (p *play) epilogue() []evidence.Final {
	if p.lock.TestsFence() {
		return nil
	}
	all := p.worksOn()
	if p.sc.Workload.Nested > 0 {
		all = append(all, nestedRegister)
	}
	var final []evidence.Final
	for _, resource := range p.resources() {
		for _, r := range all {
			final = append(final, evidence.Final{Resource: resource, Register: r, Value: p.world.Ground().Value(resource, r)})
		}
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

// noLock is the error for a lock that cannot be made as the scenario says: a TTL
// too short for it, a way of waiting that it does not have.
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
