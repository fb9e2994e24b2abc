package subject

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locksim/lock"
)

// LockerFunc is a function that acquires, as a [lock.Locker].
type LockerFunc func(ctx context.Context, name string) (lock.Lease, error)

// Acquire calls f.
func (f LockerFunc) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return f(ctx, name)
}

// Grant is what a lock knows of one grant, for [NewLease]. Leave out what the lock does not have.
type Grant struct {
	// Unlock gives the lock back. It is required.
	Unlock func(ctx context.Context) error
	// Until is when the lease ends, by the clock of its holder: the instant of the request plus the TTL. Leave it out,
	// with nil, for a lock that does not tell, and set Lease of its [Traits]: [LeaseCounted] with LeaseTTL for leases that
	// last for a TTL from the call of Acquire, of a lock that does not wait there; [LeaseHeld] with Detection for those
	// that last until they are released or Lost is closed, such as that of a session. Without either a run ends with an
	// error that says so.
	Until func() time.Time
	// TTL is how long the lease of a lock lasts that does not tell when it ends, in place of Until: from Asked on, the
	// instant of the request by the clock of its holder, and from the call of each Extend that succeeds.
	TTL   time.Duration
	Asked time.Time
	// Extend makes the lease last longer. Until or TTL tells how long.
	Extend func(ctx context.Context) error
	// Lost is closed when the lock notices that the lease is lost.
	Lost <-chan struct{}
	// Term is that of an election that calls back. Its end is the loss if there is no Lost.
	Term *Term
	// Token is the fencing token; a lock with tokens sets [Traits].Tokens too.
	Token uint64
}

// Term is the term of one candidate of an election that calls back, as that of client-go does: give it Started as the
// callback for the beginning and Stopped for the end. Acquire waits for Leads. An election calls each once in a term;
// one that calls again breaks [locksim/lock/promise.DutyKeeps]. It is safe for concurrent use.
type Term struct {
	leads, over chan struct{}

	mu               sync.Mutex
	started, stopped int
}

// NewTerm makes a term that has not begun.
func NewTerm() *Term { return &Term{leads: make(chan struct{}), over: make(chan struct{})} }

// Started is the callback of the election when the candidate leads.
func (t *Term) Started() { t.count(&t.started, t.leads) }

// Stopped is the callback of the election when the candidate does not lead any more, or will not.
func (t *Term) Stopped() { t.count(&t.stopped, t.over) }

// Leads is closed when Started has been called.
func (t *Term) Leads() <-chan struct{} { return t.leads }

// Over is closed when Stopped has been called.
func (t *Term) Over() <-chan struct{} { return t.over }

func (t *Term) count(calls *int, first chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *calls++; *calls == 1 {
		close(first)
	}
}

// CalledBack is how often each callback has been called.
func (t *Term) CalledBack() (started, stopped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.started, t.stopped
}

// NewLease makes the [lock.Lease] of a grant to the client with the environment e. It is a [lock.Extender] if g has
// Extend. ctx is the context of the Acquire: the context of the lease has its values, and ends when the lease is lost,
// when Release is called, or with the process. A Release that is called again returns what the first one did that had
// an answer. It is safe for concurrent use.
func NewLease(ctx context.Context, e Env, g Grant) lock.Lease {
	if g.Term != nil && g.Lost == nil {
		g.Lost = g.Term.Over()
	}
	l := &lease{grant: g, clock: e.Clock}
	if g.TTL > 0 {
		l.until = g.Asked.Add(g.TTL)
	}
	l.ctx, l.end = context.WithCancelCause(lasting{e.Context(), ctx})
	if g.Lost != nil {
		go l.watch()
	}
	if g.Extend != nil {
		return &extender{l}
	}
	return l
}

// lasting is a context that ends with a process, and has the values of another one. The process is asked first: package
// context finds by a value what ends a context.
type lasting struct {
	context.Context
	values context.Context
}

func (l lasting) Value(key any) any {
	if v := l.Context.Value(key); v != nil {
		return v
	}
	return l.values.Value(key)
}

type lease struct {
	grant Grant
	ctx   context.Context
	end   context.CancelCauseFunc
	clock func() lock.Clock

	mu       sync.Mutex // never held during a call
	until    time.Time  // by the TTL of the grant
	released bool       // a Release has had an answer, result
	result   error
}

type extender struct{ *lease }

// Extend implements [lock.Extender].
func (e *extender) Extend(ctx context.Context) error {
	if e.grant.TTL == 0 {
		return e.grant.Extend(ctx)
	}
	until := e.clock().Now().Add(e.grant.TTL)
	err := e.grant.Extend(ctx)
	if err == nil {
		e.mu.Lock()
		e.until = until
		e.mu.Unlock()
	}
	return err
}

// watch ends the context of a lease that is lost.
func (l *lease) watch() {
	select {
	case <-l.grant.Lost:
		l.end(lock.ErrLost)
	case <-l.ctx.Done():
	}
}

func (l *lease) Token() uint64            { return l.grant.Token }
func (l *lease) Lost() <-chan struct{}    { return l.grant.Lost }
func (l *lease) Context() context.Context { return l.ctx }

// CalledBack is how often each callback of the election has been called, for one that calls back.
func (l *lease) CalledBack() (started, stopped int) {
	if l.grant.Term == nil {
		return 0, 0
	}
	return l.grant.Term.CalledBack()
}

func (l *lease) Until() time.Time {
	if l.grant.Until != nil {
		return l.grant.Until()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// Release gives the lock back.
func (l *lease) Release(ctx context.Context) error {
	l.end(nil)
	l.mu.Lock()
	released, result := l.released, l.result
	l.mu.Unlock()
	if released {
		return result
	}
	err := l.grant.Unlock(ctx)
	if err == nil || errors.Is(err, lock.ErrNotHeld) {
		l.mu.Lock()
		l.released, l.result = true, err
		l.mu.Unlock()
	}
	return err
}

// Within acquires a lock whose lease lives in a context. acquire gets one that ends with ctx while it waits, but not
// with it after the grant, as [lock.Locker] has it; it returns the context of the lease, which the lock ends when it is
// lost, and what gives the lock back. Set Lease of its [Traits] to [LeaseHeld].
func Within(ctx context.Context, e Env, acquire func(ctx context.Context) (held context.Context, release func(),
	err error)) (lock.Lease, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	held, release, err := acquire(life)
	if err == nil && !stop() {
		err = ctx.Err() // the wait ended in the instant of the grant
	}
	if err != nil {
		end()
		return nil, err
	}
	return NewLease(ctx, e, Grant{
		Lost:   held.Done(),
		Unlock: func(context.Context) error { release(); end(); return nil },
	}), nil
}

// Retry calls try until it returns true or an error, with a pause between two calls, for a lock that only tries. Its
// error is that of try, or that of ctx when it ends first.
func Retry(ctx context.Context, clock lock.Clock, pause time.Duration,
	try func(ctx context.Context) (bool, error)) error {
	for {
		if ok, err := try(ctx); ok || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Unanswered marks the error of a request that may have been carried out although its caller has no answer: it then
// wraps [lock.ErrOutcomeUnknown] too, and whatever the request has left on the server is no surprise. The answer of a
// Redis or SQL server, also when it is an error, is left as it is, and so are errors that are certain by the word of
// the lock, such as that it is taken. nil stays nil.
func Unanswered(err error, certain ...error) error {
	if err == nil || errors.Is(err, lock.ErrOutcomeUnknown) || errors.Is(err, lock.ErrNotHeld) {
		return err
	}
	for _, known := range certain {
		if errors.Is(err, known) {
			return err
		}
	}
	var redis interface {
		error
		RedisError()
	}
	var sql interface {
		error
		SQLState() string
	}
	if errors.As(err, &redis) || errors.As(err, &sql) {
		return err
	}
	return fmt.Errorf("%w: %w", lock.ErrOutcomeUnknown, err)
}

// NotHeld marks the error of a release by which a lock says that the lease had ended before: it then wraps
// [lock.ErrNotHeld] too. lost are the lock's own errors for that. Other errors, and nil, stay as they are.
func NotHeld(err error, lost ...error) error {
	for _, known := range lost {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: %w", lock.ErrNotHeld, err)
		}
	}
	return err
}

// Sorted is an error with the lines of its text in order, each once, and with "; " between them. Use it for a library
// that asks several servers at once and joins their errors in the order in which its goroutines end: two runs of one
// seed would have different texts. nil stays nil.
func Sorted(err error) error {
	if err == nil {
		return nil
	}
	return sortedError{err}
}

type sortedError struct{ cause error }

func (e sortedError) Unwrap() error { return e.cause }

func (e sortedError) Error() string {
	lines := strings.Split(e.cause.Error(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	slices.Sort(lines)
	return strings.Join(slices.DeleteFunc(slices.Compact(lines), func(line string) bool { return line == "" }), "; ")
}
