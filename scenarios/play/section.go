package play

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locksim/checker"
	"locksim/internal/prose"
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

// section is what the client does while it has the lock: the section of the lock, or
// the steps of the workload. An error means that the process has crashed.
func (g *grant) section() error {
	c := g.client
	began := c.play.world.Now()
	if w := c.play.workload(); w != nil {
		err := w.section(g)
		if !w.short {
			c.longest = max(c.longest, c.play.world.Now()-began)
		}
		return err
	}
	writes, run := c.play.section()
	if over, err := g.leaseIsOver(); over || err != nil {
		return err
	}
	h := &holder{client: c, grant: g, writes: writes, saw: map[string]string{}}
	c.inSection.Store(true)
	err := run(c.proc.Notice(), h)
	c.inSection.Store(false)
	c.longest = max(c.longest, c.play.world.Now()-began)
	if h.crashed != nil {
		return h.crashed
	}
	if n := len(h.written); err == nil && h.ended == nil && n > 0 && n < len(writes) {
		_ = c.misused("returned nil and wrote %s alone: it writes all of Writes, which are %s, or none; return an error if "+
			"it stops between them",
			prose.Commas(h.written), prose.Commas(writes))
	}
	return nil
}

// section is the section of the lock, or that of the workload, with the registers that it writes.
func (p *play) section() (writes []string, run func(ctx context.Context, h *holder) error) {
	if own := p.lock.Section; own.Run != nil {
		return own.Writes, func(ctx context.Context, h *holder) error { return own.Run(ctx, h) }
	}
	w := p.sc.Workload
	return w.Writes(), func(_ context.Context, h *holder) error { return h.follow(w) }
}

// follow does the steps of a workload, one after another, up to the first that fails: a
// client that does not know whether its first write took place does not go on with the
// second. Nested sections, and that of another lock, come before the work.
func (h *holder) follow(w file.Workload) error {
	nested, beside := w.Nested, w.Beside
	for _, s := range w.Steps() {
		var err error
		switch s.Do {
		case file.StepRead:
			_, err = h.Read(s.Register)
		case file.StepWrite:
			if w.Sells() && h.ended == nil && !h.client.play.enough(h.saw[s.Register]) {
				return nil
			}
			err = h.Write(s.Register)
		case file.StepCheck:
			err = h.Check()
		case file.StepWork:
			for ; err == nil && nested > 0; nested-- {
				err = h.over(nil, h.client.nestedSection(string(h.grant.Resource)))
			}
			if err == nil && beside {
				beside, err = false, h.over(nil, h.client.besideSection(string(h.grant.Resource)))
			}
			if err == nil {
				err = h.Work(s.WorksFor(w.Hold))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hold is work of a section, up to the end of it, or with errAsked until the process is asked to end. The client
// extends its lease meanwhile, if the scenario says so and the lock can. A failure is part of the story: it goes on, as
// it would without.
func (g *grant) hold(d time.Duration) error {
	c := g.client
	w := c.play.sc.Workload
	part := d / time.Duration(w.Extend+1)
	for range w.Extend {
		if err := c.pass(part); err != nil {
			return err
		}
		l, ok := g.lease.(lock.Extender)
		if !ok {
			continue
		}
		if _, err := c.proc.Mark(trace.Mark{Step: trace.Point, Label: trace.PointExtend}); err != nil {
			return err
		}
		after := trace.Mark{Step: trace.Point, Label: trace.PointExtended}
		ctx, end := c.within(c.proc.Context(), w.ExtendWithin)
		if err := g.extend(ctx, l); err != nil {
			after.Label, after.Problem = trace.PointNotExtended, err.Error()
		}
		end()
		if _, err := g.step(after); err != nil {
			return err
		}
	}
	return c.pass(d - part*time.Duration(w.Extend))
}

// extend extends a lease. The inner lease of a watchdog ends later than the outer one, by a tenth of the TTL at most.
func (g *grant) extend(ctx context.Context, l lock.Extender) error {
	c := g.client
	called, sent := c.view.Now(), c.play.world.Now()
	left := g.lease.Until().Sub(called) + c.play.sc.Lock.TTL/10
	err := l.Extend(ctx)
	due := time.Duration(0)
	if left > 0 {
		due = sent + left
	}
	g.returned(ctx, "Extend", sent, due, err)
	if err == nil {
		g.inspectExtension(called)
	}
	return err
}

// nestedSection is a section within a section: the same owner acquires the same
// lock again, and works on another register. With a lock without owners it gives up after two lengths of a lease.
func (c *client) nestedSection(resource string) error {
	ctx := c.proc.Context()
	if c.play.ownerless {
		limited, giveUp := context.WithCancel(ctx)
		stop := c.proc.Clock().AfterFunc(2*c.play.sc.Lock.TTL+offBeat, giveUp)
		defer stop()
		ctx = limited
	}
	g, err := c.acquire(ctx, inner, resource)
	if g == nil || err != nil {
		return err
	}
	defer g.unwatch()
	saw, ok, err := g.read(nestedRegister)
	if err != nil {
		return err
	}
	if ok {
		if _, err := g.write(nestedRegister, saw); err != nil {
			return err
		}
	}
	return g.release()
}

// besideSection is a section under the lock that comes after one that the client has, with an eighth of the work.
// Clients take locks in the order of the scenario, so that none waits for one that waits for it.
func (c *client) besideSection(has string) error {
	resources, w := c.play.resources(), c.play.sc.Workload
	next := slices.Index(resources, has) + 1
	if next == len(resources) {
		return nil
	}
	ctx, giveUp := context.WithCancel(c.proc.Notice())
	stop := c.proc.Clock().AfterFunc(c.play.acquireLimit()+offBeat, giveUp)
	g, err := c.acquire(ctx, outer, resources[next])
	stop()
	if g == nil || err != nil {
		return err
	}
	defer g.unwatch()
	w.Hold, w.Nested, w.Beside = w.Hold/8, 0, false
	h := &holder{client: c, grant: g, writes: w.Writes(), saw: map[string]string{}}
	_ = h.follow(w) // if it ends early, the client goes on under its other lock
	if h.crashed != nil || g.Released != 0 {
		return h.crashed
	}
	return g.release()
}

// leaseIsOver is the check that a careful client makes before each step.
func (g *grant) leaseIsOver() (bool, error) {
	c := g.client
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

func (g *grant) read(register string) (saw string, ok bool, err error) {
	c := g.client
	op := g.newOp(checker.Read, register)
	n, err := g.step(trace.Mark{Step: g.steps.reading, Op: op.ID})
	if err != nil {
		return "", false, err
	}
	op.Invoked, g.sent = n, &op
	ctx, cancel := c.storeContext()
	defer cancel()
	saw, outcome, cause := g.store.Do(ctx, op, g.id)
	op.Saw, op.Outcome = saw, outcome
	c.noteGivenUp(ctx)
	_, err = g.finish(op, g.steps.read, cause)
	return saw, cause == nil, err
}

// noteGivenUp keeps the first instant at which the client gave up an operation in the transaction that has its lock,
// since the context of it had ended: the connection may be of no more use to the lock. One that fails by itself is no
// such reason.
func (c *client) noteGivenUp(ctx context.Context) {
	if ctx.Err() != nil && c.gaveUp == 0 && c.play.sc.Workload.Data == file.DataTransaction {
		c.gaveUp = c.play.world.Now()
	}
}

func (g *grant) write(register, saw string) (ok bool, err error) {
	op := g.newOp(checker.Write, register)
	op.Saw = saw
	if p := g.client.play; p.sc.Workload.Sells() {
		p.taken(op.ID, saw)
	}
	return g.send(op)
}

// send sends a write.
func (g *grant) send(op checker.Op) (ok bool, err error) {
	c := g.client
	n, err := g.step(trace.Mark{Step: g.steps.write, Op: op.ID})
	if err != nil {
		return false, err
	}
	op.Invoked, g.sent = n, &op
	ctx, cancel := c.storeContext()
	defer cancel()
	var cause error
	_, op.Outcome, cause = g.store.Do(ctx, op, g.id)
	c.noteGivenUp(ctx)
	ok, err = g.finish(op, g.steps.written, cause)
	if ok && c.play.sc.Workload.Data == file.DataTransaction {
		g.await(len(g.ops) - 1)
	}
	return ok, err
}

// think is the time between two rounds: from half of the scenario's time to one and
// a half of it.
func (c *client) think() time.Duration {
	w := c.play.sc.Workload
	return w.Think/2 + c.upTo(w.Think)
}

func (g *grant) newOp(kind checker.OpKind, register string) checker.Op {
	c := g.client
	c.ops++
	return checker.Op{ID: fmt.Sprintf("%s.%s%d", c.proc.Name(), kind[:1], c.ops), Client: c.proc.Name(), Kind: kind,
		Resource: g.Resource, Register: register, Token: g.Token}
}
