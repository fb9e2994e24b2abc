package scenarios

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock"
	"locksim/sim"
)

// client drives the workload of one process: acquire, read, work, write,
// release, think. Every step is a mark in the trace, and so a seam and an
// event at which a fault may strike.
type client struct {
	play   *play
	proc   *sim.Process
	locker lock.Locker
	dice   *rand.Rand
	start  time.Duration

	grants   []*grant
	attempts []checker.Attempt
	ops      int
	partial  atomic.Bool
}

// grant is a grant with what was done under it. The fields that a relay
// writes are read when the run is over.
type grant struct {
	checker.Grant
	id    string // unique in a run; what the store knows the grant by
	ops   []checker.Op
	lease lock.Lease
	heard atomic.Bool // the client has observed the loss

	releaseFailed bool // it may still hold the key, until the TTL
}

func newClient(p *play, proc *sim.Process, i int) (*client, error) {
	locker, err := p.lock.New(proc)
	if err != nil {
		return nil, err
	}
	c := &client{play: p, proc: proc, locker: locker, dice: proc.Rand("workload")}
	w := p.sc.Workload
	c.start = time.Duration(i) * w.Stagger
	if w.Stagger == 0 {
		c.start = c.upTo(w.Think)
	}
	return c, nil
}

// upTo draws a duration up to d.
func (c *client) upTo(d time.Duration) time.Duration {
	return time.Duration(c.dice.Int64N(int64(d) + 1))
}

// work is the whole workload. A crash ends it without another word.
func (c *client) work() {
	if c.sleep(c.start) != nil {
		return
	}
	for round := range c.play.sc.Workload.Rounds {
		if round > 0 && c.sleep(c.think()) != nil {
			return
		}
		if err := c.round(); err != nil {
			return
		}
	}
}

// think is the time between two rounds: half of what the scenario says, to
// one and a half of it.
func (c *client) think() time.Duration {
	w := c.play.sc.Workload
	return w.Think/2 + c.upTo(w.Think)
}

func (c *client) sleep(d time.Duration) error { return c.proc.Clock().Sleep(c.proc.Context(), d) }

// round is one guarded section. Only a crash, or a lock that cannot be had, is
// an error; everything else is part of the story.
func (c *client) round() error {
	g, err := c.acquire(context.WithCancel(c.proc.Context()))
	if g == nil || err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	c.watch(g, stop)
	if err := c.section(g); err != nil {
		return err
	}
	return c.release(g)
}

// acquire returns nil where the lock was not granted, and an error, which ends
// the client's work, where it never will be.
//
// A lock may hang its lease on the context: it lives as long as the process does.
func (c *client) acquire(ctx context.Context, goHome func()) (*grant, error) {
	invoked, err := c.proc.Mark(faults.EventAcquire, resource)
	if err != nil {
		return nil, err
	}
	stop := c.proc.Clock().AfterFunc(c.play.acquirePatience(), goHome)
	lease, err := c.locker.Acquire(ctx, resource)
	stop()
	if err != nil {
		return nil, errors.Join(c.notGranted(invoked, err), ctx.Err())
	}
	if lease == nil {
		panic(fmt.Sprintf("the Acquire of lock %s returned neither a lease nor an error", c.play.lock.Name))
	}
	granted, err := c.proc.Mark(faults.EventGranted, describeLease(lease))
	if err != nil {
		return nil, err
	}
	g := &grant{lease: lease, id: fmt.Sprintf("%s.g%d", c.proc.Name(), len(c.grants)+1),
		Grant: checker.Grant{Client: c.proc.Name(), Resource: resource, Token: lease.Token(),
			Invoked: checker.Pos(invoked), Granted: checker.Pos(granted)}}
	c.grants = append(c.grants, g)
	return g, nil
}

func describeLease(l lock.Lease) string {
	if l.Token() == 0 {
		return resource
	}
	return fmt.Sprintf("%s token=%d", resource, l.Token())
}

func (c *client) notGranted(invoked int, cause error) error {
	if c.proc.Crashed() {
		return sim.ErrCrashed
	}
	returned, err := c.proc.Mark("not-granted", cause.Error())
	if err != nil {
		return err
	}
	outcome := checker.OutcomeFailed
	if errors.Is(cause, lock.ErrOutcomeUnknown) {
		outcome = checker.OutcomeUnknown
	}
	c.attempts = append(c.attempts, checker.Attempt{Client: c.proc.Name(), Resource: resource,
		Invoked: checker.Pos(invoked), Returned: checker.Pos(returned), Outcome: outcome})
	return nil
}

// section reads, works and writes, as long as the client believes in its
// lease and the store does not refuse it.
func (c *client) section(g *grant) error {
	if over, err := c.leaseIsOver(g); over || err != nil {
		return err
	}
	saw, ok, err := c.read(g)
	if !ok || err != nil {
		return err
	}
	if err := c.sleep(c.play.sc.Workload.Hold); err != nil {
		return err
	}
	if over, err := c.leaseIsOver(g); over || err != nil {
		return err
	}
	return c.write(g, saw)
}

// leaseIsOver is what a careful client asks itself before each step.
func (c *client) leaseIsOver(g *grant) (bool, error) {
	care := c.play.sc.Workload.ChecksUntil
	if care == checker.CareNever {
		return false, nil
	}
	if g.heard.Load() {
		return true, nil
	}
	if care == checker.CareLost || c.proc.Clock().Now().Before(g.lease.Until()) {
		return false, nil
	}
	n, err := c.proc.Mark("until-seen", "the lease has ended")
	g.UntilSeen = checker.Pos(n)
	return true, err
}

func (c *client) read(g *grant) (saw string, ok bool, err error) {
	op := c.newOp(g, checker.Read)
	n, err := c.proc.Mark("reading", op.ID)
	if err != nil {
		return "", false, err
	}
	op.Invoked = checker.Pos(n)
	ctx, cancel := c.storeContext()
	defer cancel()
	saw, cause := c.proc.Store().Read(ctx, storeOp(g, op))
	op.Saw = saw
	err = c.finish(g, op, faults.EventRead, cause)
	return saw, cause == nil, err
}

func (c *client) write(g *grant, saw string) error {
	op := c.newOp(g, checker.Write)
	op.Saw = saw
	n, err := c.proc.Mark(faults.EventWrite, op.ID)
	if err != nil {
		return err
	}
	op.Invoked = checker.Pos(n)
	ctx, cancel := c.storeContext()
	defer cancel()
	cause := c.proc.Store().Write(ctx, storeOp(g, op))
	return c.finish(g, op, faults.EventWritten, cause)
}

// finish records the end of an operation, crash or not.
func (c *client) finish(g *grant, op checker.Op, event string, cause error) error {
	op.Outcome = outcomeOf(cause)
	if c.proc.Crashed() {
		op.Outcome = checker.OutcomeUnknown
		g.ops = append(g.ops, op)
		return sim.ErrCrashed
	}
	n, err := c.proc.Mark(event, describeOp(op, cause))
	switch {
	case err != nil && op.Outcome == checker.OutcomeOK:
		op.Outcome = checker.OutcomeUnknown // the answer came to a process that is no more
	case err == nil && op.Outcome != checker.OutcomeUnknown:
		op.Returned = checker.Pos(n)
	}
	g.ops = append(g.ops, op)
	return err
}

func outcomeOf(err error) checker.Outcome {
	switch {
	case err == nil:
		return checker.OutcomeOK
	case errors.Is(err, sim.ErrRefused):
		return checker.OutcomeRefused
	case errors.Is(err, sim.ErrUnknownOutcome):
		return checker.OutcomeUnknown
	}
	return checker.OutcomeNotSent
}

func describeOp(op checker.Op, cause error) string {
	switch {
	case cause != nil:
		return fmt.Sprintf("%s %s: %v", op.ID, op.Outcome, cause)
	case op.Kind == checker.Read:
		return fmt.Sprintf("%s found %s", op.ID, orNothing(op.Saw))
	}
	return op.ID
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}

func (c *client) newOp(g *grant, kind checker.OpKind) checker.Op {
	c.ops++
	return checker.Op{ID: fmt.Sprintf("%s.%s%d", c.proc.Name(), kind[:1], c.ops), Client: c.proc.Name(), Kind: kind,
		Resource: resource, Register: register, Token: g.Token}
}

func storeOp(g *grant, op checker.Op) sim.StoreOp {
	return sim.StoreOp{Resource: op.Resource, Register: op.Register, ID: op.ID, Token: op.Token, Grant: g.id, Base: op.Saw}
}

// storeContext bounds the wait for the store, where the scenario says so.
func (c *client) storeContext() (context.Context, context.CancelFunc) {
	if d := c.play.sc.Workload.Timeout; d > 0 {
		return context.WithTimeout(c.proc.Context(), d)
	}
	return context.WithCancel(c.proc.Context())
}

func (c *client) release(g *grant) error {
	n, err := c.proc.Mark(faults.EventRelease, resource)
	if err != nil {
		return err
	}
	g.Released = checker.Pos(n)
	cause := g.lease.Release(c.proc.Context())
	text := resource
	if cause != nil {
		text = cause.Error()
	}
	if n, err = c.proc.Mark(faults.EventReleased, text); err != nil {
		return err
	}
	g.ReleaseReturned = checker.Pos(n)
	g.releaseFailed = excusable(cause)
	return nil
}

// excusable reports whether a release that ended so may have left the key
// behind, until its TTL, through no fault of the lock. That a context was
// cancelled is no excuse: the one that the client gave was alive (F29).
func excusable(cause error) bool {
	return cause != nil && !errors.Is(cause, lock.ErrNotHeld) && !errors.Is(cause, context.Canceled)
}

// watch records, until stop, when the lease's validity ends on the holder's
// clock, when the lock says that it is lost, and when the client hears of it.
// The first two are seen even while the process is paused; the third passes
// the gate, as the client's own goroutine would have to.
func (c *client) watch(g *grant, stop <-chan struct{}) {
	c.proc.Go(func() {
		if c.outlast(g.lease, stop) {
			g.Until = checker.Pos(c.proc.Observe("until", resource))
		}
	})
	c.proc.Go(func() {
		select {
		case <-g.lease.Lost():
		case <-stop:
			return
		}
		if c.proc.Paused() {
			c.partial.Store(true)
		}
		g.Lost = checker.Pos(c.proc.Observe("lost", resource))
		if n, err := c.proc.Mark("lost-seen", resource); err == nil {
			g.LostSeen = checker.Pos(n)
			g.heard.Store(true)
		}
	})
}

// outlast waits for the end of a lease's validity, which renewals move. It
// returns false when stop comes first.
func (c *client) outlast(l lock.Lease, stop <-chan struct{}) bool {
	for until := l.Until(); c.proc.Clock().Until(until, stop); {
		next := l.Until()
		if !next.After(until) {
			return true
		}
		until = next
	}
	return false
}
