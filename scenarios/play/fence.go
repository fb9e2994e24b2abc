package play

import (
	"errors"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/subject"
)

// fencedRegister is the register of a store under test with late sections: it has one for each resource.
const fencedRegister = "value"

// trying is the workload that tries the store, whatever the section of the lock is.
var trying = workload{section: (*grant).tryFence, registers: func(*play) []string { return []string{fencedRegister} },
	always: true}

// tryFence is a section of [file.WorkloadLate].
func (g *grant) tryFence() error {
	c := g.client
	if c.dice.IntN(4) > 0 {
		if _, _, err := g.read(fencedRegister); err != nil {
			return err
		}
	}
	if err := c.pass(g.lateness()); errors.Is(err, errAsked) {
		return nil
	} else if err != nil {
		return err
	}
	if c.dice.IntN(8) == 0 {
		if err := g.release(); err != nil {
			return err
		}
	}
	for range 1 + c.dice.IntN(3) {
		op := g.newOp(checker.Write, fencedRegister)
		ok, err := g.send(op)
		again := g.ops[len(g.ops)-1].Outcome == checker.OutcomeUnknown && c.dice.IntN(2) == 0 || ok && c.dice.IntN(4) == 0
		if err == nil && again {
			retry := g.newOp(checker.Write, fencedRegister)
			retry.Again = op.ID
			_, err = g.send(retry)
		}
		if err != nil {
			return err
		}
		if err := c.pass(c.upTo(20 * time.Millisecond)); err != nil {
			return nil //nolint:nilerr // the process was asked to end
		}
	}
	return nil
}

// lateness draws how long a client waits before it writes: not at all, for a part of its lease, to about the end of
// it, when another client gets the lock, or for up to a TTL more.
func (g *grant) lateness() time.Duration {
	c := g.client
	left := max(g.lease.Until().Sub(c.proc.Clock().Now()), 0)
	switch c.dice.IntN(6) {
	case 0, 1:
		return 0
	case 2:
		return c.upTo(c.play.sc.Workload.Hold)
	case 3:
		return left + c.upTo(20*time.Millisecond)
	}
	return left + c.upTo(c.play.sc.Lock.TTL)
}

// misanswered keeps what a store under test did that no store may do.
func (c *client) misanswered(cause error) {
	if wrong, ok := errors.AsType[*subject.MisuseError](cause); ok {
		_ = c.mistaken("the fence %s, on %s, %s", c.play.lock.Name, c.proc.Name(), wrong.What)
	}
}

// readAll reads what a store under test has in the end, under a lease of the probe.
func (p *play) readAll(proc Machine, store subject.Store, resource string, l lock.Lease) error {
	for _, register := range p.worksOn() {
		if err := p.probe.readLast(proc, store, resource, register, l.Token()); err != nil {
			return err
		}
	}
	return nil
}
