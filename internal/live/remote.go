//go:build linux

package live

import (
	"context"
	"sync"
	"time"

	"locksim/checker"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/subject"
)

// locker is the lock of another process.
type locker struct {
	m  *machine
	id int
}

// newLocker makes the lock in the process of a client.
func (m *machine) newLocker(identity string) (lock.Locker, error) {
	var info lockerInfo
	if _, err := m.call(m.ctx, askLocker, newLocker{Identity: identity}, &info); err != nil {
		return nil, err
	}
	return m.lockerOf(info), nil
}

// lockerOf is a lock with the abilities that it has in its process.
func (m *machine) lockerOf(info lockerInfo) lock.Locker {
	l := locker{m, info.ID}
	switch {
	case info.Tries && info.Owned:
		return struct {
			locker
			trier
			owned
		}{l, trier{l}, owned{l}}
	case info.Tries:
		return struct {
			locker
			trier
		}{l, trier{l}}
	case info.Owned:
		return struct {
			locker
			owned
		}{l, owned{l}}
	}
	return l
}

// trier and owned are abilities of a lock.
type (
	trier struct{ of locker }
	owned struct{ of locker }
)

// Acquire implements lock.Locker.
func (l locker) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return l.acquire(ctx, acquire{Locker: l.id, Resource: resource})
}

// TryAcquire implements lock.Trier.
func (t trier) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return t.of.acquire(ctx, acquire{Locker: t.of.id, Resource: resource, Try: true})
}

// As implements lock.Owned. A process that has ended has no lock: then the requests of this one fail.
func (o owned) As(owner string) lock.Locker {
	var info lockerInfo
	if _, err := o.of.m.call(o.of.m.ctx, askAs, asOwner{o.of.id, owner}, &info); err != nil {
		return o.of
	}
	return o.of.m.lockerOf(info)
}

// deadlineOf is the deadline of a context as another process has it.
func deadlineOf(ctx context.Context) deadline {
	at, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return deadline(monotonic() + int64(time.Until(at)))
}

func (l locker) acquire(ctx context.Context, r acquire) (lock.Lease, error) {
	r.Deadline = deadlineOf(ctx)
	var info leaseInfo
	at, err := l.m.call(ctx, askAcquire, r, &info)
	l.m.answered(at)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { l.m.link.notify(endAcquire, leaseCall{Lease: info.ID}) })
	lease := l.m.addLease(info)
	if info.Extends {
		return extender{lease}, nil
	}
	return lease, nil
}

// lease is a lease of another process.
type lease struct {
	m    *machine
	info leaseInfo
	ctx  context.Context // nil for a lease without one
	over context.CancelCauseFunc

	mu    sync.Mutex
	until int64
	lost  chan struct{}
	told  bool // lost is closed
}

// extender is a lease that can be extended.
type extender struct{ *lease }

// addLease makes a lease of what its process says of it. What the process has told of it before is not forgotten.
func (m *machine) addLease(info leaseInfo) *lease {
	l := &lease{m: m, info: info, until: info.Until, lost: make(chan struct{})}
	if info.Context {
		l.ctx, l.over = context.WithCancelCause(context.Background())
	}
	if info.Lost {
		l.lose()
	}
	m.mu.Lock()
	early := m.early[info.ID]
	delete(m.early, info.ID)
	m.leases[info.ID] = l
	m.mu.Unlock()
	for _, tell := range early {
		tell(l)
	}
	return l
}

// about calls f with a lease, when it is known.
func (m *machine) about(id int, f func(l *lease)) {
	m.mu.Lock()
	l := m.leases[id]
	if l == nil {
		m.early[id] = append(m.early[id], f)
	}
	m.mu.Unlock()
	if l != nil {
		f(l)
	}
}

func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.told {
		l.told = true
		close(l.lost)
	}
}

// move sets the end of the lease.
func (l *lease) move(until int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = until
}

// Token implements lock.Lease.
func (l *lease) Token() uint64 { return l.info.Token }

// Until implements lock.Lease. The process is asked while it runs; of one that is stopped it is what it was before.
func (l *lease) Until() time.Time {
	if l.info.Until == 0 {
		return time.Time{}
	}
	asked, stop := context.WithCancel(l.m.ctx)
	answer := make(chan int64, 1)
	go func() {
		defer stop()
		var u until
		if _, err := l.m.call(asked, askUntil, leaseCall{Lease: l.info.ID}, &u); err == nil {
			l.move(u.Until)
			answer <- u.Until
		}
	}()
	select {
	case u := <-answer:
		return instant(u)
	case <-asked.Done():
	case <-l.m.stopped():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return instant(l.until)
}

// Lost implements lock.Lease.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// LostBefore implements [play.Knowing].
func (l *lease) LostBefore() bool { return l.info.LostBefore }

// Context implements lock.Lease.
func (l *lease) Context() context.Context { return l.ctx }

// Release implements lock.Lease.
func (l *lease) Release(ctx context.Context) error {
	at, err := l.m.call(ctx, askRelease, leaseCall{l.info.ID, deadlineOf(ctx)}, nil)
	l.m.answered(at)
	return err
}

// Extend implements lock.Extender.
func (l extender) Extend(ctx context.Context) error {
	var u until
	at, err := l.m.call(ctx, askExtend, leaseCall{l.info.ID, deadlineOf(ctx)}, &u)
	l.m.answered(at)
	if u.Until != 0 {
		l.move(u.Until)
	}
	return err
}

// remoteStore is the access of a client to data: to the store s0, or to that of its lock.
type remoteStore struct {
	m  *machine
	id int
}

// Do implements subject.Store.
func (s remoteStore) Do(ctx context.Context, op checker.Op,
	grant string) (saw string, outcome checker.Outcome, err error) {
	var a storeAnswer
	at, err := s.m.call(ctx, askStore, storeCall{s.id, op, grant, deadlineOf(ctx)}, &a)
	s.m.answered(at)
	if a.Outcome == "" { // the process has ended, and may have sent it
		return "", checker.OutcomeUnknown, err
	}
	return a.Saw, a.Outcome, err
}

// data is the data of a lock, which its process opens.
func (w *World) data(d *subject.Data) *subject.Data {
	if d == nil {
		return nil
	}
	out := &subject.Data{Fence: d.Fence, Rule: d.Rule, Ledger: d.Ledger,
		Open: func(e subject.Env, mode fence.Mode) (subject.Store,
			error) {
			m := w.machine(e.Name())
			var info dataInfo
			if _, err := m.call(m.ctx, askOpenData, newLocker{Identity: e.Identity(), Mode: mode}, &info); err != nil {
				return nil, err
			}
			return remoteStore{m, info.ID}, nil
		}}
	if d.Within != nil {
		out.Within = func(s subject.Store, l lock.Lease) subject.Store {
			store := s.(remoteStore)
			id := 0
			switch l := l.(type) {
			case *lease:
				id = l.info.ID
			case extender:
				id = l.info.ID
			}
			var info dataInfo
			if _, err := store.m.call(store.m.ctx, askWithin, within{store.id, id}, &info); err != nil {
				return store // the process has ended: no operation of it succeeds
			}
			return remoteStore{store.m, info.ID}
		}
	}
	return out
}
