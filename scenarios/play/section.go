package play

import (
	"fmt"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// steps are the marks that a client records in a section, each of which is an event
// at which a fault may strike.
type steps struct {
	acquire, granted, reading, read, write, written, release, released trace.Step
}

// outer are the steps of a section, inner those of a nested one.
var (
	outer = steps{
		trace.Acquire, trace.Granted, trace.Reading, trace.Read, trace.Write, trace.Written, trace.Release, trace.Released,
	}
	inner = steps{
		trace.Reenter, trace.Reentered, trace.InnerReading, trace.InnerRead, trace.InnerWrite, trace.InnerWritten,
		trace.Leave, trace.Left,
	}
)

// section reads, works and writes, as long as the client believes in its
// lease and the store does not refuse it.
func (c *client) section(g *grant) error {
	if over, err := c.leaseIsOver(g); over || err != nil {
		return err
	}
	saw, ok, err := c.readAll(g, c.play.registers())
	if !ok || err != nil {
		return err
	}
	for range c.play.sc.Workload.Nested {
		if err := c.nestedSection(g.Resource); err != nil {
			return err
		}
	}
	if err := c.hold(g); err != nil {
		return err
	}
	if over, err := c.leaseIsOver(g); over || err != nil {
		return err
	}
	if c.play.sc.Workload.Release == file.ReleaseEarly {
		if err := c.release(g); err != nil {
			return err
		}
	}
	return c.writeAll(g, c.play.registers(), saw)
}

// hold is the work of a section. The client extends its lease meanwhile, if the scenario
// says so and the lock can. A failure is part of the story: it goes on, as it would
// without.
func (c *client) hold(g *grant) error {
	w := c.play.sc.Workload
	part := w.Hold / time.Duration(w.Extend+1)
	for range w.Extend {
		if err := c.sleep(part); err != nil {
			return err
		}
		l, ok := g.lease.(lock.Extender)
		if !ok {
			continue
		}
		if _, err := c.proc.Mark(trace.Mark{Step: trace.Point, Label: "extend"}); err != nil {
			return err
		}
		after := trace.Mark{Step: trace.Point, Label: "extended"}
		if l.Extend(c.proc.Context()) != nil {
			after.Label = "not-extended"
		}
		n, err := c.proc.Mark(after)
		if err != nil {
			return err
		}
		c.seeRevival(g, n)
	}
	return c.sleep(w.Hold - part*time.Duration(w.Extend))
}

// nestedSection is a section within a section: the same owner acquires the same
// lock again, and works on another register.
func (c *client) nestedSection(resource string) error {
	g, err := c.acquire(c.proc.Context(), inner, resource)
	if g == nil || err != nil {
		return err
	}
	defer g.unwatch()
	saw, ok, err := c.readAll(g, []string{nestedRegister})
	if err != nil {
		return err
	}
	if ok {
		if err := c.writeAll(g, []string{nestedRegister}, saw); err != nil {
			return err
		}
	}
	return c.release(g)
}

// leaseIsOver is the check that a careful client makes before each step.
func (c *client) leaseIsOver(g *grant) (bool, error) {
	care := c.play.sc.Workload.ChecksUntil
	if care == checker.CareNever {
		return false, nil
	}
	if g.lossSeen.Load() {
		return true, nil
	}
	if care == checker.CareLost || !isOver(g.lease, c.proc.Clock().Now()) {
		return false, nil
	}
	n, err := c.proc.Mark(trace.Mark{Step: trace.UntilSeen})
	g.UntilSeen = n
	return true, err
}

// readAll reads registers, one after another. ok is false if one could not be read:
// the section ends there.
func (c *client) readAll(g *grant, registers []string) (saw []string, ok bool, err error) {
	for _, register := range registers {
		found, ok, err := c.read(g, register)
		if !ok || err != nil {
			return nil, false, err
		}
		saw = append(saw, found)
	}
	return saw, true, nil
}

func (c *client) read(g *grant, register string) (saw string, ok bool, err error) {
	op := c.newOp(g, checker.Read, register)
	n, err := c.proc.Mark(trace.Mark{Step: g.steps.reading, Op: op.ID})
	if err != nil {
		return "", false, err
	}
	op.Invoked = n
	c.seeRevival(g, n)
	ctx, cancel := c.storeContext()
	defer cancel()
	saw, outcome, cause := c.proc.Store().Do(ctx, op, g.id)
	op.Saw, op.Outcome = saw, outcome
	_, err = c.finish(g, op, g.steps.read, cause)
	return saw, cause == nil, err
}

// writeAll writes registers, one after another, up to the first that is not
// acknowledged: a client that does not know whether the first half took place does
// not go on with the second.
func (c *client) writeAll(g *grant, registers, saw []string) error {
	for i, register := range registers {
		ok, err := c.write(g, register, saw[i])
		if !ok || err != nil {
			return err
		}
	}
	return nil
}

func (c *client) write(g *grant, register, saw string) (ok bool, err error) {
	op := c.newOp(g, checker.Write, register)
	op.Saw = saw
	n, err := c.proc.Mark(trace.Mark{Step: g.steps.write, Op: op.ID})
	if err != nil {
		return false, err
	}
	op.Invoked = n
	c.seeRevival(g, n)
	ctx, cancel := c.storeContext()
	defer cancel()
	var cause error
	_, op.Outcome, cause = c.proc.Store().Do(ctx, op, g.id)
	return c.finish(g, op, g.steps.written, cause)
}

// think is the time between two rounds: from half of the scenario's time to one and
// a half of it.
func (c *client) think() time.Duration {
	w := c.play.sc.Workload
	return w.Think/2 + c.upTo(w.Think)
}

func (c *client) newOp(g *grant, kind checker.OpKind, register string) checker.Op {
	c.ops++
	return checker.Op{ID: fmt.Sprintf("%s.%s%d", c.proc.Name(), kind[:1], c.ops), Client: c.proc.Name(), Kind: kind,
		Resource: g.Resource, Register: register, Token: g.Token}
}
