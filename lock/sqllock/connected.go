package sqllock

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"locksim/lock"
	"locksim/lock/internal/frame"
)

// connected is a lock that a connection has: what [ForUpdate], [Queue], [Advisory] and [AdvisoryTransaction] have in
// common.
type connected struct {
	db   *sql.DB
	opt  Options
	dice *dice
	open func(life context.Context, conn *sql.Conn, resource string) session

	any bool // any job of a [Queue] is asked for, which then says its name
}

// session is a connection that asks for a lock, or has it. Its calls do not overlap. A statement goes by the context of
// the session, which ends the connection: one that is cancelled would end it as well.
type session interface {
	// take asks for the lock, and waits until it is free for as long as wait. Its error is lock.ErrTaken if it is not.
	take(wait time.Duration) error
	// beat is a statement without an effect. Its error means that the session may no longer have the lock.
	beat() error
	// do lets the holder work on the connection.
	do(work func(tx *sql.Tx) error) error
	// free gives the lock back. had is false if the session no longer had it.
	free() (had bool, err error)
	// leave makes the connection fit for other use, when it does not have the lock.
	leave() error
	// abort ends the connection, since it may have the lock. The context of the session has ended.
	abort()
}

func newConnected(db *sql.DB, o Options, open func(context.Context, *sql.Conn, string) session) (*connected, error) {
	if err := errors.Join(check(db, o), o.Dialect.seconds(o.TTL)); err != nil {
		return nil, fmt.Errorf("make a lock that a connection has: %w", err)
	}
	o = o.withDefaults()
	return &connected{db: db, opt: o, dice: &dice{rand: rand.New(o.Jitter)}, open: open}, nil
}

// Acquire implements [lock.Locker]. It asks again and again, or waits in the database with [Options.Block], until ctx
// ends or a statement fails. The lease is a [*Lease].
func (c *connected) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return c.watched(ctx, resource, (*lock.Watchdog).Acquire)
}

// TryAcquire implements [lock.Trier].
func (c *connected) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	return c.watched(ctx, resource, (*lock.Watchdog).TryAcquire)
}

// watched asks for a lease that is renewed, with the watchdog of package lock.
func (c *connected) watched(ctx context.Context, resource string, ask frame.Ask) (lock.Lease, error) {
	one := &asking{connected: c}
	renewed, err := frame.Renewed(ctx, one, c.opt.watchdog(), resource, ask)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(renewed.Context(), func() {
		if errors.Is(context.Cause(renewed.Context()), lock.ErrLost) {
			one.held.end(false)
		}
	})
	return &Lease{renewed, one.held}, nil
}

// Lease is a lease of a lock that a connection has. It is safe for concurrent use.
type Lease struct {
	renewedLease
	held *held
}

type renewedLease = frame.Lease

// Do lets work run in the transaction that has the lock. Release commits its writes: they are durable when it returns
// nil, and are never made if the lock is lost before. They need no fence. If work returns an error, its writes are
// undone, not those of other calls. Work must use tx from its own goroutine only, and must not end it. While it runs
// nothing renews the lease: if it pauses between two statements for longer than the TTL, the database ends the
// transaction. If the lock is lost meanwhile, or [Options.Context] ends, the transaction is rolled back when work has
// returned.
//
// It returns the error of work. It returns [lock.ErrNotHeld] if the lease has ended before, and
// [errors.ErrUnsupported] for an [Advisory] lock, which has no transaction.
func (l *Lease) Do(work func(tx *sql.Tx) error) error {
	if err := context.Cause(l.Context()); err != nil {
		return fmt.Errorf("work in the transaction of a lock: %w: %w", lock.ErrNotHeld, err)
	}
	return l.held.do(work)
}

// asking is the lock for one Acquire, without renewals of its lease.
type asking struct {
	*connected
	held *held // the latest
}

// Acquire implements [lock.Locker].
func (a *asking) Acquire(ctx context.Context, resource string) (lock.Lease, error) {
	return poll(ctx, resource, a.opt, a.dice, func() (lock.Lease, error) {
		for {
			wait := a.wait(ctx)
			l, err := a.try(ctx, resource, wait)
			if wait == 0 || !errors.Is(err, lock.ErrTaken) {
				return l, err
			}
		}
	})
}

// TryAcquire implements [lock.Trier].
func (a *asking) TryAcquire(ctx context.Context, resource string) (lock.Lease, error) {
	l, err := a.try(ctx, resource, 0)
	return frame.Tried(resource, l, err)
}

// grace is the time for the answer of a database that has ended a wait.
const grace = 50 * time.Millisecond

// wait is how long to wait in the database, which does not notice that a waiter has died until it is granted the lock:
// so it is a TTL at most, and a dead waiter keeps the lock from others for two at most. In the last moments before its
// deadline a waiter polls: a connection that ends during a wait is in the queue until the database has noticed.
func (a *asking) wait(ctx context.Context) time.Duration {
	if !a.opt.Block {
		return 0
	}
	d, limited := left(ctx)
	switch {
	case !limited:
		return a.opt.TTL
	case d <= 2*grace:
		return 0
	case a.opt.Dialect == MySQL: // it counts in seconds
		return min(d-grace, a.opt.TTL).Truncate(time.Second)
	}
	return min(d-grace, a.opt.TTL)
}

// try asks once, on a connection of its own.
func (a *asking) try(ctx context.Context, resource string, wait time.Duration) (lock.Lease, error) {
	if resource == "" && !a.any {
		return nil, errors.New("the resource has no name")
	}
	conn, err := connect(ctx, a.db, a.opt)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	h := &held{opt: a.opt, conn: conn, cancel: end, turn: make(chan struct{}, 1), renewed: a.opt.Clock.Now()}
	h.session = a.open(life, conn, resource)
	stop := context.AfterFunc(ctx, end) // the connection ends with the wait
	goesOn := context.AfterFunc(a.opt.Context, end)
	defer a.opt.Clock.AfterFunc(wait+a.opt.TTL, end)() // a server that has lost its power does not reset its connections
	err = h.session.take(wait)
	took := err == nil
	if took && a.opt.Clock.Now().Sub(h.renewed) > a.opt.TTL/3 { // it has waited: the lease is as long as from now on
		h.renewed = a.opt.Clock.Now()
		err = h.session.beat()
	}
	if !stop() {
		err = frame.Over(ctx, err)
	}
	if !goesOn() {
		err = frame.Over(a.opt.Context, err)
	}
	switch {
	case err == nil:
		h.endWith(a.opt.Context)
	case errors.Is(err, lock.ErrTaken) || refused(err) && !took:
		h.end(h.session.leave() == nil)
		return nil, err
	default:
		h.end(false)
		return nil, outcome(err)
	}
	a.held = h
	if t, ok := h.session.(*transaction); ok && a.any {
		resource, _ = t.key.(string)
	}
	return lock.NewLease(ctx, a.opt.Clock, h, resource, 0, h.renewed.Add(a.opt.TTL)), nil
}

// connect takes a connection from the pool. After a TTL it begins anew: a server that has lost its power does not
// answer, and does not reset its connections.
func connect(ctx context.Context, db *sql.DB, o Options) (*sql.Conn, error) {
	for {
		limited, cancel := context.WithCancel(ctx)
		stop := o.Clock.AfterFunc(o.TTL, cancel)
		conn, err := db.Conn(limited)
		again := err != nil && limited.Err() != nil && ctx.Err() == nil
		stop()
		cancel()
		if !again {
			return conn, err
		}
	}
}

// held is a session that has the lock, or asks for it.
type held struct {
	opt     Options
	conn    *sql.Conn
	session session

	turn chan struct{} // of calls of the session: full while one is under way

	mu      sync.Mutex         // guards the rest
	cancel  context.CancelFunc // ends what the session does
	renewed time.Time          // when the last statement was sent that was answered
	under   *heartbeat         // under way
	broken  bool               // a heartbeat has failed
	over    bool               // it has ended
}

// heartbeat is a statement that renews the lease.
type heartbeat struct {
	done chan struct{}
	err  error
}

// Extend implements [lock.Grant]. The end of ctx does not end the statement, which would end the connection: the next
// call waits for it too.
func (h *held) Extend(ctx context.Context) (until time.Time, held bool, err error) {
	b := h.beat()
	select {
	case <-b.done:
	case <-ctx.Done():
		return time.Time{}, false, fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, ctx.Err())
	}
	if b.err != nil { // the connection is at its end, and the lock with it
		return time.Time{}, false, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renewed.Add(h.opt.TTL), true, nil
}

// beat sends a heartbeat, or joins the one that is under way.
func (h *held) beat() *heartbeat {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.under != nil {
		return h.under
	}
	b := &heartbeat{done: make(chan struct{})}
	h.under = b
	go func() {
		defer close(b.done)
		h.turn <- struct{}{}
		sent := h.opt.Clock.Now()
		b.err = h.session.beat()
		<-h.turn
		h.mu.Lock()
		defer h.mu.Unlock()
		h.under = nil
		if b.err == nil {
			h.renewed = sent
		} else {
			h.broken = true
		}
	}()
	return b
}

// do lets the holder work on the connection, when no heartbeat is under way.
func (h *held) do(work func(*sql.Tx) error) error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	return h.session.do(work)
}

// Delete implements [lock.Grant].
func (h *held) Delete(ctx context.Context) (deleted bool, err error) {
	ctx, cancel := detached(ctx, h.opt.ReleaseTimeout)
	defer cancel()
	if h.isGone() {
		h.end(false)
		return false, nil
	}
	freed, inOrder := make(chan struct{}), false
	go func() {
		defer close(freed)
		h.turn <- struct{}{}
		defer func() { <-h.turn }()
		if deleted, err = h.session.free(); err == nil {
			inOrder = h.session.leave() == nil
		}
	}()
	select {
	case <-freed:
	case <-ctx.Done():
		h.end(false) // the statement fails
		<-freed
	}
	h.end(inOrder)
	if err != nil {
		err = outcome(err)
	}
	return deleted, err
}

// isGone reports whether the session no longer has the lock, as far as is known.
func (h *held) isGone() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over || h.broken
}

// endWith ends the session at the end of a context.
func (h *held) endWith(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stop, cancel := context.AfterFunc(ctx, func() { h.end(false) }), h.cancel
	h.cancel = func() { stop(); cancel() }
}

// end ends the session, and the connection too unless the session has ended in order: it may have the lock.
func (h *held) end(inOrder bool) {
	h.mu.Lock()
	before, cancel := h.over, h.cancel
	h.over = true
	h.mu.Unlock()
	if before {
		return
	}
	cancel()
	if !inOrder {
		h.turn <- struct{}{} // no statement is under way
		h.session.abort()
		<-h.turn
	}
	_ = h.conn.Close()
}

// discard makes the pool close a connection.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
