package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/scenarios/evidence"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// probe is the client that asks for the lock when all workloads have ended: see [evidence.Probe].
type probe struct {
	evidence.Probe
	left    []ServerState // the servers before it asked
	changes int           // of keys by then
	last    []checker.Op  // its reads, of a store under test
}

func (p *play) runProbe() error {
	w := p.world
	p.probe = &probe{}
	if p.loops != "" {
		return nil
	}
	if err := w.RunUntil(w.Quiet); err != nil {
		return err
	}
	p.probe = &probe{left: w.Ground().Servers(), changes: len(w.Ground().KeyChanges())}
	p.probe.Denied = true
	p.probe.Bound = evidence.ProbeBound(p.sc, p.lock.Terms(), p.record())
	proc, err := w.Join(trace.Probe)
	if err != nil {
		return fmt.Errorf("add the probe: %w", err)
	}
	locker, err := p.newLocker(proc)
	if err != nil {
		return fmt.Errorf("make the lock of the probe: %w", err)
	}
	var store subject.Store
	if p.lock.TestsFence() {
		if store, err = p.openFence(proc); err != nil {
			return fmt.Errorf("open the store of the probe: %w", err)
		}
	}
	var done atomic.Bool
	began, asked := w.Now(), len(w.Trace().Events)
	proc.Go(func() {
		defer done.Store(true)
		for _, resource := range p.resources() {
			read := func(l lock.Lease) error { return p.readAll(proc, store, resource, l) }
			if store == nil {
				read = func(lock.Lease) error { return nil }
			}
			if p.probe.Acquired = false; !p.probe.run(proc, locker, resource, read) {
				return
			}
		}
	})
	passed := false
	if !p.real {
		w.After(p.probe.Bound+p.acquireLimit(), func() { passed = true })
	}
	if err := w.RunUntil(func() bool { return w.Idle() || p.forever && done.Load() || passed }); err != nil {
		return err
	}
	if passed && !done.Load() && !p.forever {
		p.forever = true
		p.waiting = append(p.waiting, checker.Waiting{Client: trace.Probe, Call: "Acquire",
			Resource: checker.Resource(p.resources()[0]), Since: checker.Pos(asked), For: w.Now() - began, Ever: true})
	}
	if evidence.KeptOutside(p.record()) {
		return ErrKeptOutside
	}
	return nil
}

// ErrKeptOutside is returned when the lock keeps its lease outside the servers, such
// as in a variable of the program: a client that asked for the lock at the end was
// told that it is taken, while no server had any key. All clients of a run are in one
// program, and so share its variables. Real processes do not, and the lock would not
// exclude them, so that a run says nothing about it.
var ErrKeptOutside = errors.New("the lock keeps its lease outside the servers: it was granted, and in the end it is " +
	"taken although no server has any key; the clients of a run share the variables of this program, which real " +
	"processes do not: make all state of the lock in New, for each process anew")

// run tries until the bound; a lock that gives up earlier is asked again. It reports
// whether it got the lock.
func (b *probe) run(proc Machine, locker lock.Locker, resource string, do func(l lock.Lease) error) bool {
	ctx, cancel := context.WithTimeout(proc.Context(), b.Bound)
	defer cancel()
	for ctx.Err() == nil {
		lease, err := locker.Acquire(ctx, resource)
		if err == nil {
			b.Acquired = true
			if do(lease) != nil {
				return false
			}
			_ = lease.Release(proc.Context())
			return true
		}
		b.Problem, b.Denied = err.Error(), b.Denied && onlyDenies(err)
		if proc.Clock().Sleep(ctx, 10*time.Millisecond) != nil {
			return false
		}
	}
	return false
}

// readLast reads a register of a store under test.
func (b *probe) readLast(proc Machine, store subject.Store, resource, register string, token uint64) error {
	id := fmt.Sprintf("%s.r%d", trace.Probe, len(b.last)+1)
	op := checker.Op{ID: id, Client: trace.Probe, Kind: checker.Read, Resource: checker.Resource(resource),
		Register: register, Token: token}
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
	b.last = append(b.last, op)
	return err
}

// onlyDenies reports whether an error says that the lock is taken, or that the time is
// over, and nothing else: an error about a connection says why the lock was not granted.
func onlyDenies(err error) bool {
	switch e := err.(type) { //nolint:errorlint // it looks at each error of the tree
	case interface{ Unwrap() error }:
		return onlyDenies(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !onlyDenies(err) })
	}
	return err == lock.ErrTaken || err == context.DeadlineExceeded || err == context.Canceled //nolint:errorlint // the leaves of the tree
}
