package play

import (
	"errors"
	"fmt"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/sim/trace"
)

// fencedRegister is the register of a store under test: it has one for each key, which is the resource.
const fencedRegister = "value"

// testsFence reports whether the store is what is under test.
func (l Lock) testsFence() bool { return l.Data != nil && l.Data.Rule != "" }

// MisuseError is returned by the Do of a [Data] under test for an answer that no store may give: the run ends with
// it.
type MisuseError struct {
	// What says what the store did, as the end of a sentence about it.
	What string
}

// Error is what the store did.
func (e *MisuseError) Error() string { return e.What }

// tryFence is a section under which the store is under test. The client reads and writes, and what it sends is often
// late: after the end of its lease, when others have the lock, or in the instant in which they write. It goes on
// after a refusal, and sends some writes again.
func (c *client) tryFence(g *grant) error {
	if c.dice.IntN(4) > 0 {
		if _, _, err := c.read(g, fencedRegister); err != nil {
			return err
		}
	}
	if err := c.pass(c.lateness(g)); errors.Is(err, errAsked) {
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
		op := c.newOp(g, checker.Write, fencedRegister)
		ok, err := c.send(g, op)
		again := g.ops[len(g.ops)-1].Outcome == checker.OutcomeUnknown && c.dice.IntN(2) == 0 || ok && c.dice.IntN(4) == 0
		if err == nil && again {
			retry := c.newOp(g, checker.Write, fencedRegister)
			retry.Again = op.ID
			_, err = c.send(g, retry)
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
func (c *client) lateness(g *grant) time.Duration {
	left := max(g.lease.Until().Sub(c.proc.Clock().Now()), 0)
	switch c.dice.IntN(6) {
	case 0, 1:
		return 0
	case 2:
		return c.upTo(c.play.sc.Workload.Hold)
	case 3, 4:
		return left + c.upTo(20*time.Millisecond)
	}
	return left + c.upTo(c.play.sc.Lock.TTL)
}

// misanswered keeps what a store under test did that no store may do.
func (c *client) misanswered(cause error) {
	if wrong, ok := errors.AsType[*MisuseError](cause); ok {
		_ = c.mistaken("the fence %s, on %s, %s", c.play.lock.Name, c.proc.Name(), wrong.What)
	}
}

// readLast reads what a store under test has in the end, under a lease of the probe.
func (p *play) readLast(proc Machine, store Store, resource string, l lock.Lease) error {
	id := fmt.Sprintf("%s.r%d", trace.Probe, len(p.last)+1)
	op := checker.Op{ID: id, Client: trace.Probe, Kind: checker.Read, Resource: resource, Register: fencedRegister,
		Token: l.Token()}
	var err error
	if op.Invoked, err = proc.Mark(trace.Mark{Step: trace.Reading, Op: id}); err != nil {
		return err
	}
	var cause error
	op.Saw, op.Outcome, cause = store.Do(proc.Context(), op, id)
	m := trace.Mark{Step: trace.Read, Op: id, Saw: op.Saw}
	if cause != nil {
		m.Outcome, m.Problem = string(op.Outcome), cause.Error()
	}
	n, err := proc.Mark(m)
	if err == nil && op.Outcome != checker.OutcomeUnknown {
		op.Returned = n
	}
	p.last = append(p.last, op)
	return err
}
